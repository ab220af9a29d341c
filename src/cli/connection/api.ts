import {
  type Answer,
  ApiError,
  type CallOptions,
  createClient,
  type Inputs,
  JsonText,
  type OperationName,
  UnreachableError,
} from '../../../clients/typescript/src/client.ts'
import { OPERATIONS } from '../../../clients/typescript/src/generated/operations.ts'
import { cliError, CONFLICT, FAILED, MISUSED, NOT_FOUND, NOT_PERMITTED, UNAVAILABLE } from '../cli-error.ts'
import { visibleAscii } from './header-text.ts'
import { unknownIdText } from './given-ids.ts'

const SERVER_SOURCES = '(--server, PUNCTUAL_SERVER)'
const TOKEN_SOURCES = '(--token, PUNCTUAL_TOKEN)'

/** Calls the operations of the API, and throws whatever fails as an error of one line. */
export interface Api {
  /** The address of the API, without a slash at the end. */
  readonly server: string
  send<Name extends OperationName>(
    name: Name,
    given: Inputs[Name],
    options?: CallOptions,
  ): Promise<Answer<Name>>
  /** Opens the stream of events, whatever the API answers. Throws what fetch throws. */
  events(signal: AbortSignal): Promise<Response>
}

export interface ApiTarget {
  /** The base address, such as `http://127.0.0.1:8080`; a path in it precedes every path. */
  readonly server: string
  readonly token: string | null
  /** Says where a token was looked for, if there is none. */
  readonly tokenHint?: string
  /** These headers are sent with every request. */
  readonly headers: Readonly<Record<string, string>>
}

export function connectApi({ server, token, tokenHint, headers }: ApiTarget): Api {
  // A person or a script decides whether to call again, so a passing fault is reported at once.
  const base = baseOf(server)
  const checked = checkedToken(token, tokenHint)
  const client = createClient({ server: base, token: checked, headers, retriesMax: 0 })
  return {
    server: base,
    events: (signal) =>
      fetch(`${base}/api/events`, {
        headers: { ...headers, authorization: `Bearer ${checked}` },
        // A redirect must not carry the token to another host.
        redirect: 'manual',
        signal,
      }),
    send: async (name, given, options) => {
      try {
        const answer = await client.send(name, ...([given, options] as never))
        if (answer.text !== '' && !isObject(answer.body)) throw new Error('The body is no object.')
        return answer
      } catch (fault) {
        throw explained(fault, server, { name, given })
      }
    },
  }
}

/** Prints every request that would change something, and sends none of them. */
export function dryRunOf(api: Api, print: (text: string) => void): Api {
  return {
    server: api.server,
    events: api.events,
    send: (name, given, options) => {
      const { method, path } = OPERATIONS[name]
      if (method === 'GET') return api.send(name, given, options)
      const fields = given as Readonly<Record<string, unknown>>
      print(`${method} ${filled(path, fields)}\n${headerText(options)}${bodyText(fields['body'])}`)
      throw new DryRunEnd()
    },
  }
}

/** Ends a command whose change was printed and not sent. */
export class DryRunEnd extends Error {}

function filled(path: string, given: Readonly<Record<string, unknown>>): string {
  const { body: _body, idempotency_key: _key, ...fields } = given
  const names = Object.keys(fields).filter(
    (name) => !path.includes(`{${name}}`) && fields[name] !== undefined,
  )
  const search = new URLSearchParams(names.map((name) => [name, String(fields[name])]))
  const start = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(fields[name])))
  return search.size === 0 ? start : `${start}?${search.toString()}`
}

function headerText({ headers = {} }: CallOptions = {}): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}

function bodyText(body: unknown): string {
  if (body === undefined) return ''
  return `${body instanceof JsonText ? body.text : JSON.stringify(body)}\n`
}

/** Takes the slash off the end of the address. */
function baseOf(server: string): string {
  const url = URL.parse(server)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw cliError(`${JSON.stringify(server)} is not an http address ${SERVER_SOURCES}`, MISUSED)
  }
  const { username, password, search, hash } = url
  if (`${username}${password}${search}${hash}` !== '') {
    const what = 'the address of the API must have no user, password, query or fragment'
    throw cliError(`${what} ${SERVER_SOURCES}`, MISUSED)
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function checkedToken(token: string | null, hint = ''): string {
  if (token !== null && token.trim() !== '') return visibleAscii(token, 'the token', ` ${TOKEN_SOURCES}`)
  throw cliError(`no token given (--token, PUNCTUAL_TOKEN${hint === '' ? '' : `; ${hint}`})`, MISUSED)
}

interface Sent {
  readonly name: OperationName
  readonly given: object
}

function explained(fault: unknown, server: string, sent: Sent): unknown {
  if (fault instanceof UnreachableError)
    return cliError(`cannot reach ${server}: ${fault.message}`, UNAVAILABLE)
  if (fault instanceof TypeError) return cliError(fault.message, MISUSED)
  if (!(fault instanceof ApiError))
    return fault instanceof Error ? cliError('the answer is not from Punctual') : fault
  if (!fault.isPunctual) {
    return cliError(`${server} answered ${fault.status} and is not Punctual ${SERVER_SOURCES}`)
  }
  if (fault.errors !== null) return cliError(Object.values(fault.errors).flat().join(' '))
  switch (fault.status) {
    case 401:
      return cliError(`${fault.message} ${TOKEN_SOURCES}`, NOT_PERMITTED)
    case 403:
      return cliError(fault.message, NOT_PERMITTED)
    case 404:
      return cliError(`${fault.message}: ${missing(server, sent)}`, NOT_FOUND)
    case 409:
      return cliError(fault.message, isOfVersions(fault.text) ? CONFLICT : FAILED)
    case 429:
    case 503:
      return cliError(fault.message, UNAVAILABLE)
    default:
      return cliError(fault.message)
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** Names what a 404 did not find: the thing that the path names, or the path itself. */
function missing(server: string, { name, given }: Sent): string {
  const [, kind] = /\{([a-z]+)_id\}/.exec(OPERATIONS[name].path) ?? []
  if (kind === undefined) return `${server} has no such path ${SERVER_SOURCES}`
  const id = String((given as Readonly<Record<string, unknown>>)[`${kind}_id`])
  return `the team of this token has ${unknownIdText(kind, id)}`
}

/** Tells whether a 409 names the current version, as the answer to an edit of an earlier one does. */
function isOfVersions(text: string): boolean {
  const body: unknown = JSON.parse(text)
  return isObject(body) && 'version' in (body as object)
}
