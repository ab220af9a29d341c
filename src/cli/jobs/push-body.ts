import { cliError, MISUSED } from '../cli-error.ts'
import { wholeNumber } from '../given-number.ts'
import { headerPairs, tagPairs } from '../given-pairs.ts'
import { readSource, type Stdin } from '../given-source.ts'

export interface PushOptions {
  readonly payload?: string
  readonly method?: string
  readonly header: readonly string[]
  readonly delay?: string
  readonly runAt?: string
  readonly callbackUrl?: string
  readonly tag: readonly string[]
}

/** The JSON text of a push, with the payload exactly as given. */
export async function writePushBody(
  queue: string,
  url: string,
  options: PushOptions,
  stdin: Stdin,
): Promise<string> {
  const { payload, method, header, delay, runAt, callbackUrl, tag } = options
  const body = JSON.stringify({
    queue,
    url,
    ...(method !== undefined && { method: method.toUpperCase() }),
    ...(header.length > 0 && { headers: headerPairs(header) }),
    ...(callbackUrl !== undefined && { callback_url: callbackUrl }),
    ...(delay !== undefined && { delay: wholeNumber('--delay', delay) }),
    ...(runAt !== undefined && { run_at: runAt }),
    ...(tag.length > 0 && { tags: tagPairs(tag) }),
  })
  if (payload === undefined) return body
  const source = await readPayload(payload, stdin)
  return `${body.slice(0, -1)},"payload":${source}}`
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
