import type { Command } from 'commander'
import { clientFailure, MISUSED } from './client-failure.ts'
import { headerPairs, readSource, wholeNumber } from './push-body.ts'
import type { OutputFlags } from './verb-options.ts'

/** `false` takes away what the cron has; only an edit can say so. */
interface RequestFlags extends OutputFlags {
  readonly zone?: string
  readonly method?: string
  readonly header: readonly string[] | false
  readonly payload?: string | false
  readonly queue?: string | false
  readonly timeout?: string
  readonly callbackUrl?: string | false
  readonly forbid?: boolean
  readonly missedRuns?: string
  readonly startingDeadline?: string | false
  readonly jitter?: string
}

export interface CreateFlags extends RequestFlags {
  readonly paused?: true
  readonly idempotencyKey?: string
}

export interface EditFlags extends RequestFlags {
  readonly name?: string
  readonly expression?: string
  readonly url?: string
}

type Stdin = AsyncIterable<Uint8Array | string>

/** The options of a new cron. */
export function describedAsNew(command: Command): Command {
  return described(command, (value) => ` (default: ${value})`)
    .option('--paused', 'begin without ticks')
    .option('--idempotency-key <key>', 'the same key again makes no second cron while the first one lives')
}

/** The options of an edit: what is not said stays as it is. */
export function describedAsEdit(command: Command): Command {
  return described(
    command
      .option('--name <name>', 'what people see')
      .option('--expression <expression>', 'when it ticks, from now on')
      .option('--url <url>', 'where the request goes'),
    () => '',
  )
    .option('--no-header', 'send no headers of your own')
    .option('--no-payload', 'send no body')
    .option('--no-queue', 'run without a queue, and without retries')
    .option('--no-callback-url', 'report to nobody')
    .option('--no-forbid', 'let runs overlap')
    .option('--no-starting-deadline', 'let a tick start however late')
}

function described(command: Command, unlessGiven: (value: string) => string): Command {
  const collect = (value: string, before: readonly string[] | false): readonly string[] => [
    ...(before === false ? [] : before),
    value,
  ]
  return command
    .option('--zone <zone>', `time zone of the expression, such as Europe/Berlin${unlessGiven('UTC')}`)
    .option('--method <method>', `GET, POST, PUT, PATCH or DELETE${unlessGiven('POST')}`)
    .option('--header <name:value>', 'a request header; may be given again', collect, [])
    .option('--payload <text>', 'body to send as it is; @file reads a file, - standard input')
    .option('--queue <name>', 'run through this queue, with its retries')
    .option('--timeout <seconds>', `for the whole call${unlessGiven('30')}`)
    .option('--callback-url <url>', 'where to report the end of each run')
    .option('--forbid', 'skip a tick while a run has not ended')
    .option('--missed-runs <policy>', `make up for the latest, all or skip${unlessGiven('latest')}`)
    .option('--starting-deadline <seconds>', 'a tick later than this is missed for good')
    .option('--jitter <seconds>', `spread crons over this long after their tick${unlessGiven('0')}`)
}

export async function writeNewCron(
  needed: { readonly name: string; readonly expression: string; readonly url: string },
  flags: CreateFlags,
  stdin: Stdin,
): Promise<string> {
  return JSON.stringify({
    name: needed.name,
    url: needed.url,
    cron_expression: needed.expression,
    ...(flags.paused === true && { is_active: false }),
    ...(await fieldsOf(flags, stdin)),
  })
}

export async function writeCronEdit(flags: EditFlags, stdin: Stdin): Promise<string> {
  const { name, expression, url } = flags
  const fields = {
    ...(name !== undefined && { name }),
    ...(url !== undefined && { url }),
    ...(expression !== undefined && { cron_expression: expression }),
    ...(await fieldsOf(flags, stdin)),
  }
  if (Object.keys(fields).length > 0) return JSON.stringify(fields)
  throw clientFailure('nothing to change was said (punctual crons edit --help)', MISUSED)
}

async function fieldsOf(flags: RequestFlags, stdin: Stdin): Promise<object> {
  const { zone, method, header, payload, queue, timeout } = flags
  const { callbackUrl, forbid, missedRuns, startingDeadline, jitter } = flags
  return {
    ...(method !== undefined && { method: method.toUpperCase() }),
    ...headersOf(header),
    ...(payload !== undefined && { payload: payload === false ? null : await readSource(payload, stdin) }),
    ...(callbackUrl !== undefined && { callback_url: orNull(callbackUrl) }),
    ...(timeout !== undefined && { timeout_seconds: wholeNumber('--timeout', timeout) }),
    ...(zone !== undefined && { time_zone: zone }),
    ...(forbid !== undefined && { concurrency_policy: forbid ? 'forbid' : 'allow' }),
    ...(missedRuns !== undefined && { missed_run_policy: missedRuns }),
    ...(startingDeadline !== undefined && {
      starting_deadline_seconds:
        startingDeadline === false ? null : wholeNumber('--starting-deadline', startingDeadline),
    }),
    ...(jitter !== undefined && { jitter_seconds: wholeNumber('--jitter', jitter) }),
    ...(queue !== undefined && { queue: orNull(queue) }),
  }
}

function headersOf(header: RequestFlags['header']): object {
  if (header === false) return { headers: {} }
  return header.length === 0 ? {} : { headers: headerPairs(header) }
}

function orNull(given: string | false): string | null {
  return given === false ? null : given
}
