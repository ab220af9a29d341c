import { isUtf8 } from 'node:buffer'
import type { Command } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import { collect } from '../command-options.ts'
import { addDataOption, checkStdinOnce, type DataFlags, withData } from '../given-data.ts'
import { headerPairs, headerSecretPairs, tagPairs } from '../given-pairs.ts'
import { maybeSeconds, TIME_AHEAD, timeAhead } from '../given-time.ts'
import { addRetryOptions, type RetryFlags, retryFields } from '../given-settings.ts'
import { readSource, readSourceBytes, type Stdin } from '../given-source.ts'

/** Fields of a push; `false` removes one, which only a change of a job can. */
export interface JobFields extends RetryFlags, DataFlags {
  readonly queue?: string | undefined
  readonly url?: string | undefined
  readonly payload?: string | false
  readonly body?: string | false
  readonly contentType?: string
  readonly method?: string
  readonly header?: readonly string[] | false
  readonly headerSecret?: readonly string[] | false
  readonly delay?: string
  readonly runAt?: string
  readonly timeout?: string
  readonly callbackUrl?: string | false
  readonly tag?: readonly string[] | false
}

/** Adds the options of a request, which a push has and a replay or duplicate may change. */
export function addRequestOptions(command: Command, byDefault: (value: string) => string): Command {
  const request = command
    .option('--payload <json>', 'JSON object to send; @file reads a file, - standard input')
    .option('--body <text>', 'any other body; @file reads a file, - standard input')
    .option(
      '--content-type <type>',
      `such as text/xml${byDefault('application/json, for a text text/plain')}`,
    )
    .option('--method <method>', `GET, POST, PUT, PATCH or DELETE${byDefault('POST')}`)
    .option('--header <name:value>', 'a request header; repeatable', collect)
    .option('--header-secret <name:secret>', 'a header from a header secret; repeatable', collect)
    .option('--timeout <seconds>', `timeout of the whole call${byDefault("the queue's")}`)
    .option('--callback-url <url>', 'where to report the end of the job')
    .option('--tag <name=value>', 'a tag; repeatable', collect)
  return addDataOption(addRetryOptions(request, byDefault("the queue's")))
}

export function addStartOptions(command: Command): Command {
  return command
    .option('--delay <seconds>', 'wait this long before running, in seconds or such as 15m')
    .option('--run-at <time>', `run at this time, such as ${TIME_AHEAD}`)
    .option('--idempotency-key <key>', 'a repeated key creates no second job')
}

interface JobSources {
  readonly stdin: Stdin
  readonly nowMs: () => number
}

/** The JSON text of a push or of its fields that differ, with the payload exactly as given. */
export async function writeJobFields(fields: JobFields, { stdin, nowMs }: JobSources): Promise<string> {
  const { queue, url, payload, method, header, headerSecret, delay, runAt, timeout, callbackUrl, tag, data } =
    fields
  checkStdinOnce({ data, payload, body: fields.body })
  const body = JSON.stringify({
    queue,
    url,
    ...(method !== undefined && { method: method.toUpperCase() }),
    ...pairsOf('headers', header, headerPairs),
    ...pairsOf('header_secrets', headerSecret, headerSecretPairs),
    ...(await bodyFields(fields.body, stdin)),
    content_type: fields.contentType,
    ...(callbackUrl !== undefined && { callback_url: orNull(callbackUrl) }),
    delay: maybeSeconds('--delay', delay),
    run_at: timeAhead('--run-at', runAt, nowMs()),
    timeout_seconds: maybeSeconds('--timeout', timeout),
    ...retryFields(fields),
    ...pairsOf('tags', tag, tagPairs),
  })
  if (payload === undefined) return withData(data, body, stdin)
  const source = payload === false ? 'null' : await readPayload(payload, stdin)
  const whole = `${body.slice(0, -1)}${body === '{}' ? '' : ','}"payload":${source}}`
  return withData(data, whole, stdin)
}

/** Bytes that are no text go as base64. */
async function bodyFields(given: string | false | undefined, stdin: Stdin): Promise<object> {
  if (given === undefined) return {}
  if (given === false) return { body: null }
  const bytes = await readSourceBytes(given, stdin)
  return isUtf8(bytes)
    ? { body: bytes.toString('utf8'), body_encoding: 'text' }
    : { body: bytes.toString('base64'), body_encoding: 'base64' }
}

function pairsOf(
  name: 'headers' | 'header_secrets' | 'tags',
  given: readonly string[] | false | undefined,
  read: (given: readonly string[]) => Readonly<Record<string, string>>,
): object {
  if (given === false) return { [name]: null }
  return given === undefined ? {} : { [name]: read(given) }
}

function orNull(given: string | false): string | null {
  return given === false ? null : given
}

/** @param given JSON, `@file`, or `-` for standard input */
async function readPayload(given: string, stdin: Stdin): Promise<string> {
  const source = (await readSource(given, stdin)).trim()
  try {
    JSON.parse(source)
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw cliError(`--payload is not JSON: ${reason}`, MISUSED)
  }
  return source
}
