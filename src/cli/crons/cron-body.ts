import type { Command } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import { collect, type OutputFlags } from '../command-options.ts'
import { headerPairs } from '../given-pairs.ts'
import type { Given } from '../kind-commands.ts'
import { queueNameOf } from '../connection/named-ids.ts'
import { addDataOption, checkStdinOnce, type DataFlags } from '../given-data.ts'
import {
  addAssertOption,
  type AssertFlags,
  assertFields,
  givenNumber,
  type RecordFlags,
  recordOption,
} from '../given-settings.ts'
import { readSource, type Stdin } from '../given-source.ts'
import { givenSeconds, maybeSeconds } from '../given-time.ts'

/** `false` removes a setting; only an edit can. */
interface RequestFlags extends OutputFlags, AssertFlags, RecordFlags, DataFlags {
  readonly zone?: string
  readonly method?: string
  readonly header?: readonly string[] | false
  readonly payload?: string | false
  readonly queue?: string | false
  readonly timeout?: string
  readonly callbackUrl?: string | false
  readonly forbid?: boolean
  readonly missedRuns?: string
  readonly startingDeadline?: string | false
  readonly jitter?: string
  readonly alertThreshold?: string
}

interface CreateFlags extends RequestFlags {
  readonly paused?: true
}

interface EditFlags extends RequestFlags {
  readonly name?: string
  readonly expression?: string
  readonly url?: string
}

export function addCreateOptions(command: Command): Command {
  return addRequestOptions(command, (value) => ` (default: ${value})`)
    .option('--queue <name>', 'run through the queue of this name, with its limits and retries')
    .option('--paused', 'create it paused')
    .option('--idempotency-key <key>', 'a repeated key creates no second cron while the first exists')
}

/** An edit has no defaults: what is not given stays as it is. */
export function addEditOptions(command: Command): Command {
  return addRequestOptions(
    command
      .option('--name <name>', 'display name')
      .option('--expression <expression>', 'new cron expression')
      .option('--url <url>', 'URL to call'),
    () => '',
  )
    .option('--no-header', 'remove all request headers')
    .option('--no-payload', 'remove the body')
    .option('--queue <queue>', 'run through this queue, by its name or id, with its limits and retries')
    .option('--no-queue', 'run without a queue, and without retries')
    .option('--no-callback-url', 'remove the callback URL')
    .option('--no-forbid', 'allow runs to overlap')
    .option('--no-starting-deadline', 'remove the starting deadline')
    .option('--no-assert', 'let any 2xx succeed')
}

function addRequestOptions(command: Command, byDefault: (value: string) => string): Command {
  const request = command
    .option('--zone <zone>', `time zone of the expression, such as Europe/Berlin${byDefault('UTC')}`)
    .option('--method <method>', `GET, POST, PUT, PATCH or DELETE${byDefault('POST')}`)
    .option('--header <name:value>', 'a request header; repeatable', collect)
    .option('--payload <text>', 'body to send unchanged; @file reads a file, - standard input')
    .option('--timeout <seconds>', `timeout of the whole call${byDefault('30')}`)
    .option('--callback-url <url>', 'where to report the end of each run')
    .option('--forbid', 'skip a tick while the previous run has not ended')
    .option(
      '--missed-runs <policy>',
      `which missed ticks to catch up on: latest, all or skip${byDefault('latest')}`,
    )
    .option('--starting-deadline <seconds>', 'skip a tick that is later than this')
    .option('--jitter <seconds>', `delay runs by up to this long, to spread crons${byDefault('0')}`)
    .option('--alert-threshold <count>', `failures in a row that raise an alert${byDefault('1')}`)
    .addOption(recordOption(byDefault('as its queue')))
  return addDataOption(addAssertOption(request))
}

export async function newFields({ flags, args, stdin }: Given<CreateFlags>): Promise<object> {
  const [name, expression, url] = args
  if ((name === undefined || expression === undefined || url === undefined) && flags.data === undefined)
    throw cliError('no cron given: give a name, an expression and a URL, or --data', MISUSED)
  return {
    name,
    url,
    cron_expression: expression,
    ...(flags.paused === true && { is_active: false }),
    ...(await fieldsOf(flags, stdin)),
    // The name of a queue that may not exist yet.
    queue: flags.queue,
  }
}

export async function editedFields({ flags, api, stdin }: Given<EditFlags>): Promise<object> {
  const { name, expression, url, queue } = flags
  return {
    ...(name !== undefined && { name }),
    ...(url !== undefined && { url }),
    ...(expression !== undefined && { cron_expression: expression }),
    ...(await fieldsOf(flags, stdin)),
    queue: typeof queue === 'string' ? await queueNameOf(api, queue) : orNull(queue),
  }
}

async function fieldsOf(flags: RequestFlags, stdin: Stdin): Promise<object> {
  const { zone, method, header, payload, timeout } = flags
  const { callbackUrl, forbid, missedRuns, startingDeadline, jitter } = flags
  checkStdinOnce({ data: flags.data, payload })
  return {
    ...(method !== undefined && { method: method.toUpperCase() }),
    ...headersOf(header),
    ...(payload !== undefined && { payload: payload === false ? null : await readSource(payload, stdin) }),
    callback_url: orNull(callbackUrl),
    timeout_seconds: maybeSeconds('--timeout', timeout),
    time_zone: zone,
    ...(forbid !== undefined && { concurrency_policy: forbid ? 'forbid' : 'allow' }),
    missed_run_policy: missedRuns,
    ...(startingDeadline !== undefined && {
      starting_deadline_seconds:
        startingDeadline === false ? null : givenSeconds('--starting-deadline', startingDeadline),
    }),
    jitter_seconds: maybeSeconds('--jitter', jitter),
    alert_threshold: givenNumber('--alert-threshold', flags.alertThreshold),
    ...assertFields(flags),
    record_responses: flags.recordResponses,
  }
}

function headersOf(header: RequestFlags['header']): object {
  if (header === false) return { headers: {} }
  return header === undefined ? {} : { headers: headerPairs(header) }
}

/** `false` as null, which removes a setting. */
function orNull(given: string | false | undefined): string | null | undefined {
  return given === false ? null : given
}
