import { addressOf } from './address.ts'
import { ApiError } from './errors.ts'
import { exchange } from './exchange.ts'
import {
  type Answers,
  type Inputs,
  ITEM_FIELDS,
  type Items,
  type Operation,
  OPERATIONS,
} from './generated/operations.ts'
import { JsonText } from './json-text.ts'
import { retrying, sleepFor, type Retries } from './retry.ts'

export type * from './generated/wire.ts'
export type { Answers, Inputs, Items }
export { ApiError, UnreachableError } from './errors.ts'
export { JsonText }

export type OperationName = keyof typeof OPERATIONS

export interface ClientOptions {
  /** Base address, such as `http://127.0.0.1:8080`; a path in it, as a proxy may have, precedes every path. */
  readonly server: string
  /** Absent = none is sent: a browser of the same origin sends the cookie of its session. */
  readonly token?: string
  /** For one request and its answer (default: 30 seconds). */
  readonly timeoutMs?: number
  /** How often a request that failed in passing is sent again (default: 3; 0 = never). */
  readonly retriesMax?: number
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** In place of the global one. */
  readonly fetch?: typeof fetch
  readonly sleep?: Retries['sleep']
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  /** Sent with this request, such as `if-match`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface Answer<Name extends OperationName> {
  readonly status: number
  readonly headers: Headers
  /** As it came; numbers have all their digits. */
  readonly text: string
  readonly body: Answers[Name]
}

/** The input may be left out where no field of it is required. */
type Given<Name extends OperationName> = object extends Inputs[Name]
  ? [given?: Inputs[Name], options?: CallOptions]
  : [given: Inputs[Name], options?: CallOptions]

type Methods = { [Name in keyof Inputs]: (...given: Given<Name>) => Promise<Answers[Name]> }

/** A method for every operation; each throws `ApiError`, `UnreachableError` or the reason of its signal. */
export type PunctualClient = Methods & {
  /** As the method of the operation, with status, headers and text of the answer. */
  send<Name extends OperationName>(name: Name, ...given: Given<Name>): Promise<Answer<Name>>
  /** Every item of a list, page by page; end the loop to read no further. */
  each<Name extends keyof Items>(name: Name, ...given: Given<Name>): AsyncGenerator<Items[Name], void, void>
}

const TIMEOUT_MS = 30_000
const RETRIES_MAX = 3

export function createClient(options: ClientOptions): PunctualClient {
  const base = options.server.replace(/\/+$/, '')
  const send = async <Name extends OperationName>(
    name: Name,
    ...args: Given<Name>
  ): Promise<Answer<Name>> => {
    const { method, path, hasKey = false }: Operation = OPERATIONS[name]
    const [input, call = {}] = args
    const given = (input ?? {}) as Readonly<Record<string, unknown>>
    const { retriesMax = RETRIES_MAX } = options
    // One key for all tries: a push whose answer was lost must not become two jobs.
    const key = hasKey
      ? (given['idempotency_key'] ?? (retriesMax > 0 ? crypto.randomUUID() : undefined))
      : undefined
    const body = given['body']
    const sent = {
      url: `${base}${addressOf(path, given)}`,
      method,
      headers: {
        ...options.headers,
        ...call.headers,
        ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(typeof key === 'string' && { 'idempotency-key': key }),
      },
      body: body === undefined || body instanceof JsonText ? body?.text : JSON.stringify(body),
      timeoutMs: call.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS,
      signal: call.signal,
      fetch: options.fetch ?? fetch,
    }
    const { status, headers, text } = await retrying(
      async () => {
        const answered = await exchange(sent)
        if (answered.status >= 200 && answered.status < 300) return answered
        throw new ApiError(answered)
      },
      {
        retriesMax,
        isRepeatable: method === 'GET' || key !== undefined,
        sleep: options.sleep ?? sleepFor,
        random: Math.random,
        signal: call.signal,
      },
    )
    return { status, headers, text, body: jsonOf(text, sent.url) as Answers[Name] }
  }
  async function* each<Name extends keyof Items>(
    name: Name,
    ...args: Given<Name>
  ): AsyncGenerator<Items[Name]> {
    const [given, call] = args
    let cursor: unknown
    do {
      const input = cursor === undefined ? given : { ...given, cursor }
      const { body } = await send(name, ...([input, call] as unknown as Given<Name>))
      const page = body as unknown as Readonly<Record<string, unknown>>
      yield* page[ITEM_FIELDS[name]] as readonly Items[Name][]
      if (page['next_cursor'] === cursor) throw new Error('A page has its own cursor as the next one.')
      cursor = page['next_cursor']
    } while (cursor !== null)
  }
  const methods = Object.keys(OPERATIONS).map((name) => [
    name,
    async (...args: never) => (await send(name as OperationName, ...(args as Given<OperationName>))).body,
  ])
  return { ...(Object.fromEntries(methods) as Methods), send, each }
}

function jsonOf(text: string, url: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`The answer of ${new URL(url).origin} is not JSON.`)
  }
}
