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

/** What `--header` gives; names differ by more than case. */
export function headerPairs(given: readonly string[]): Readonly<Record<string, string>> {
  return pairs(given, { flag: '--header', separator: ':', sameName: (name) => name.toLowerCase() })
}

function tagPairs(given: readonly string[]): Readonly<Record<string, string>> {
  return pairs(given, { flag: '--tag', separator: '=', sameName: (name) => name })
}

interface PairForm {
  readonly flag: string
  readonly separator: string
  /** Equal for names that are one to the API. */
  readonly sameName: (name: string) => string
}

function pairs(
  given: readonly string[],
  { flag, separator, sameName }: PairForm,
): Readonly<Record<string, string>> {
  const found = new Map<string, readonly [name: string, value: string]>()
  for (const pair of given) {
    const at = pair.indexOf(separator)
    const name = pair.slice(0, Math.max(at, 0)).trim()
    if (name === '') throw clientFailure(`${flag} ${pair} lacks a name and "${separator}"`, MISUSED)
    // An object would keep the last of them and send the others nowhere.
    if (found.has(sameName(name))) throw clientFailure(`${flag} ${name} is given more than once`, MISUSED)
    found.set(sameName(name), [name, pair.slice(at + 1).trim()])
  }
  return Object.fromEntries(found.values())
}

export function wholeNumber(flag: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw clientFailure(`${flag} ${text} is not a whole number`, MISUSED)
  return Number(text)
}
