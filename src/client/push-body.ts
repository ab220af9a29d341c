import { readFile } from 'node:fs/promises'
import { clientFailure, MISUSED } from './client-failure.ts'

export interface PushOptions {
  readonly payload?: string
  readonly method?: string
  readonly header: readonly string[]
  readonly delay?: string
  readonly runAt?: string
  readonly callbackUrl?: string
  readonly tag: readonly string[]
}

/** The JSON text of a push; the payload stands in it exactly as given. */
export async function writePushBody(
  queue: string,
  url: string,
  options: PushOptions,
  stdin: AsyncIterable<Uint8Array | string>,
): Promise<string> {
  const { payload, method, header, delay, runAt, callbackUrl, tag } = options
  const body = JSON.stringify({
    queue,
    url,
    ...(method !== undefined && { method: method.toUpperCase() }),
    ...(header.length > 0 && { headers: pairs('--header', header, ':') }),
    ...(callbackUrl !== undefined && { callback_url: callbackUrl }),
    ...(delay !== undefined && { delay: wholeNumber('--delay', delay) }),
    ...(runAt !== undefined && { run_at: runAt }),
    ...(tag.length > 0 && { tags: pairs('--tag', tag, '=') }),
  })
  if (payload === undefined) return body
  const source = await readPayload(payload, stdin)
  return `${body.slice(0, -1)},"payload":${source}}`
}

/** @param given JSON, `@file`, or `-` for standard input */
async function readPayload(given: string, stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  const source = (await readSource(given, stdin)).trim()
  try {
    JSON.parse(source)
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw clientFailure(`--payload is not JSON: ${reason}`, MISUSED)
  }
  return source
}

/** A text as given, of a file by `@file`, or of standard input by `-`. */
export async function readSource(given: string, stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  if (given !== '-' && !given.startsWith('@')) return given
  try {
    return await (given === '-' ? readAll(stdin) : readFile(given.slice(1), 'utf8'))
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw clientFailure(`--payload cannot be read: ${reason}`, MISUSED)
  }
}

async function readAll(stdin: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

export function pairs(flag: string, given: readonly string[], separator: string): Record<string, string> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf(separator)
      if (at < 1) throw clientFailure(`${flag} ${pair} lacks a name and "${separator}"`, MISUSED)
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    }),
  )
}

export function wholeNumber(flag: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw clientFailure(`${flag} ${text} is not a whole number`, MISUSED)
  return Number(text)
}
