import { readFile } from 'node:fs/promises'
import { cliError, MISUSED } from './cli-error.ts'

export type Stdin = AsyncIterable<Uint8Array | string>

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

/** The text itself, that of a file for `@file`, or of standard input for `-`. */
export async function readSource(given: string, stdin: Stdin): Promise<string> {
  if (given !== '-' && !given.startsWith('@')) return given
  try {
    return await (given === '-' ? readAll(stdin) : readFile(given.slice(1), 'utf8'))
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw cliError(`--payload cannot be read: ${reason}`, MISUSED)
  }
}

async function readAll(stdin: Stdin): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

/** Names that differ only in case are refused. */
export function headerPairs(given: readonly string[]): Readonly<Record<string, string>> {
  return pairs(given, { flag: '--header', separator: ':', sameName: (name) => name.toLowerCase() })
}

function tagPairs(given: readonly string[]): Readonly<Record<string, string>> {
  return pairs(given, { flag: '--tag', separator: '=', sameName: (name) => name })
}

interface PairForm {
  readonly flag: string
  readonly separator: string
  /** Equal for names that the API treats as one. */
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
    if (name === '') throw cliError(`${flag} ${pair} must be name${separator}value`, MISUSED)
    // An object would silently keep only the last one.
    if (found.has(sameName(name))) throw cliError(`${flag} ${name} is given more than once`, MISUSED)
    found.set(sameName(name), [name, pair.slice(at + 1).trim()])
  }
  return Object.fromEntries(found.values())
}

export function wholeNumber(flag: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw cliError(`${flag} ${text} is not a whole number`, MISUSED)
  return Number(text)
}
