/**
 * The access matrix: every operation of openapi.yaml, asked by every kind of sender, of what its own team has and of what
 * another team has. Who may do what is said by docs/reference/access.md alone.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  faultsOf,
  operations,
  type Operation,
  parametersOf,
  requestSchemaOf,
} from '../rules/contract-document.ts'
import { PAGE_OPERATIONS } from './access-page.ts'

/** What operations need that need no permission. */
type Need = 'nobody' | 'anybody' | 'session' | 'token' | 'code' | 'token or code'

/** One that is not here, and needs no permission by the page, is a gap. */
const WITHOUT_PERMISSION: Readonly<Record<string, Need>> = {
  'GET /api/login/oidc': 'nobody',
  'GET /api/login/oidc/callback': 'nobody',
  'GET /api/me': 'anybody',
  'GET /api/openapi.json': 'anybody',
  'GET /api/sessions': 'anybody',
  'DELETE /api/sessions/{session_id}': 'anybody',
  'GET /api/session': 'session',
  'DELETE /api/session': 'session',
  'POST /api/session/code': 'token',
  'POST /api/session': 'token or code',
  'GET /api/session/code': 'code',
}

/** Answers to whoever is let in, where they are not a 200. */
const OTHER_ANSWERS: Readonly<Record<string, readonly number[]>> = {
  'GET /api/login/oidc': [303, 404],
  // Nobody here comes back from a login.
  'GET /api/login/oidc/callback': [401, 404],
  'POST /api/session/code': [201],
  'POST /api/session': [201],
  // A session of somebody else in the team is not one's own.
  'DELETE /api/sessions/{session_id}': [404],
}

const GOOD_QUERY: Readonly<Record<string, string>> = {
  'GET /api/window-openings': '?after=2026-11-01T00:00:00Z&before=2026-12-01T00:00:00Z',
  'DELETE /api/alerts': '?all=true',
  'DELETE /api/team/sessions': '?kind=token&subject=canary-of-ours',
  'DELETE /api/session': '?everywhere=true',
}

/** With it, an operation that acts without a body is a 422. */
const WRONG_QUERY: Readonly<Record<string, string>> = {
  'DELETE /api/alerts': '?all=perhaps',
  'DELETE /api/team/sessions': '?kind=nobody',
  'DELETE /api/session': '?everywhere=perhaps',
}

/** What the page says is needed, too, for what the examples ask for: changes to a job, and another URL for it. */
const ALSO_NEEDED: Readonly<Record<string, string>> = {
  'POST /api/jobs/{job_id}/replay': 'push',
  'POST /api/jobs/{job_id}/duplicate': 'payloads',
}

/** Codes that are not valid are counted by their address. */
const COUNTED: ReadonlySet<Need | undefined> = new Set(['code', 'token or code'])

/** Requests at once. */
const AT_ONCE = 8

export type Headers = Readonly<Record<string, string>>

/** Who sends a request, as far as it matters for what is answered. */
export interface Sender {
  readonly name: string
  /** Of a request for this operation. */
  readonly headers: (operation: string) => Headers | Promise<Headers>
  /**
   * nobody: refused everywhere; code: opens a session and does nothing else; astray: names a team in which it has no
   * rights; limited: has all permissions, for queues that the team does not have
   */
  readonly is: 'nobody' | 'token' | 'session' | 'code' | 'astray' | 'limited'
  readonly permissions?: ReadonlySet<string>
  /** Of a session: its changes lack what only a page of ours can send. */
  readonly isForged?: boolean
  /** Of a token: the cookie of a session comes with it. */
  readonly hasSession?: boolean
  /** Put behind each path that has no query. */
  readonly search?: string
}

/** What there is of a team: an id for each parameter of a path, and a text that is in the names of all of it. */
export interface Belongings {
  readonly ids: Readonly<Record<string, string>>
  readonly canary: string
}

/** Lists by name. */
export type Snapshot = Readonly<Record<string, unknown>>

export interface Matrix {
  readonly url: string
  /** Of the senders' team. */
  readonly own: Belongings
  readonly foreign: Belongings
  /** All that both teams have, in a form that is the same until somebody changes something. */
  readonly snapshot: () => Promise<Snapshot>
  /** Whether this installation has an operation; one that it has not is a 404 to whoever is let in. All without it. */
  readonly has?: (path: string) => boolean
}

interface Case {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly operation: Operation
  /** By the page; null = none. */
  readonly permission: string | null
  /** The first example of the document, as it is sent. */
  readonly body: string | undefined
}

const CASES: readonly Case[] = operations().map(({ method, path, operation }) => {
  const id = `${method} ${path}`
  const examples = operation.requestBody?.content?.['application/json']?.examples ?? {}
  const example = Object.values(examples)[0]?.value
  const body = example === undefined ? undefined : JSON.stringify(example)
  return { id, method, path, operation, permission: PAGE_OPERATIONS.get(id) ?? null, body }
})

/** Operations of which nobody says who may, and what they need to be asked here. */
export function gapsIn(...teams: readonly Belongings[]): string[] {
  return CASES.flatMap(({ id, path, operation, permission, body }) => {
    const gaps: string[] = []
    if (!PAGE_OPERATIONS.has(id)) gaps.push('docs/reference/access.md does not say who may')
    else if ((permission === null) !== id in WITHOUT_PERMISSION) gaps.push('nobody says what it needs')
    if (operation.requestBody?.required === true && body === undefined) gaps.push('it has no example')
    for (const { name, in: place } of parametersOf(path, operation)) {
      if (place === 'path' && teams.some(({ ids }) => (ids[name] ?? '') === ''))
        gaps.push(`there is no ${name}`)
    }
    return gaps.map((gap) => `${id}: ${gap}`)
  })
}

/** The status of a refusal that comes before anything else; null = it is let in. */
function refusalOf(sender: Sender, { id, method, permission }: Case): number | null {
  const need = WITHOUT_PERMISSION[id]
  if (need === 'nobody') return null
  switch (sender.is) {
    case 'nobody':
      return 401
    case 'code':
      return need === 'code' || need === 'token or code' ? null : 401
    case 'astray':
      return need === 'session' || need === 'code' ? 401 : 404
    case 'session':
      if (need === 'code') return 401
      if (sender.isForged === true && method !== 'GET') return 403
      if (need === 'token' || need === 'token or code') return 401
      break
    case 'token':
    case 'limited':
      // Asked by a token and a cookie, those of a session look at the cookie.
      if (need === 'code' || (need === 'session' && sender.hasSession !== true)) return 401
  }
  return permission === null || sender.permissions?.has(permission) === true ? null : 403
}

interface Cell {
  readonly one: Case
  readonly of: 'own' | 'foreign'
  readonly search: string
  readonly body: string | undefined
  /** The statuses that are right. */
  readonly right: readonly number[]
  /** Whether the answer may show what the sender's team has. */
  readonly shows: boolean
}

function cellsOf({ has = () => true }: Matrix, sender: Sender, one: Case): Cell[] {
  const { id, path, body } = one
  const search = GOOD_QUERY[id] ?? ''
  const isOfOne = path.includes('{')
  const refusal = refusalOf(sender, one)
  const own = { one, of: 'own', search, body, shows: false } as const
  const foreign = { ...own, of: 'foreign' } as const
  if (refusal !== null) {
    const right = refusal === 401 && COUNTED.has(WITHOUT_PERMISSION[id]) ? [401, 429] : [refusal]
    const cell = { ...own, right }
    return isOfOne ? [cell, { ...foreign, right }] : [cell]
  }
  if (!has(path)) return [{ ...own, right: [404] }]
  const also = ALSO_NEEDED[id]
  const lacksMore = also !== undefined && sender.permissions?.has(also) !== true
  const hidden = lacksMore ? [403] : sender.is === 'limited' ? [403, 404] : [404]
  const others = isOfOne ? [{ ...foreign, right: hidden }] : []
  if (sender.is === 'limited' && isOfOne) return [...others, { ...own, right: [403, 404] }]
  const answered = answeredOf(one).map((cell) =>
    sender.is === 'limited' ? { ...cell, shows: false, right: [...cell.right, 403] } : cell,
  )
  return [...others, ...answered]
}

/** A request of whoever is let in, for what its own team has, that changes nothing. */
function answeredOf(one: Case): Cell[] {
  const { id, method, operation, body } = one
  const cell = { one, of: 'own', search: GOOD_QUERY[id] ?? '', body, shows: true } as const
  const right = OTHER_ANSWERS[id]
  if (right !== undefined) return [{ ...cell, right }]
  if (method === 'GET') return [{ ...cell, right: [200] }]
  const wrong = WRONG_QUERY[id]
  if (wrong !== undefined) return [{ ...cell, search: wrong, right: [422] }]
  if (requestSchemaOf(operation) === null) return []
  return [{ ...cell, body: JSON.stringify({ surely_unknown: 1 }), right: [422] }]
}

export interface MatrixEnd {
  readonly cells: number
  /** What is not as it must be, in words. */
  readonly faults: readonly string[]
}

/** Asks all cells of a sender, and looks at both teams before and after. */
export async function askAll(matrix: Matrix, sender: Sender): Promise<MatrixEnd> {
  const before = await matrix.snapshot()
  const cells = CASES.flatMap((one) => cellsOf(matrix, sender, one))
  const faults: string[] = []
  const askTogether = async (asked: readonly Cell[]): Promise<void> => {
    const waiting = [...asked]
    const work = async (): Promise<void> => {
      for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
        for (const fault of await ask(matrix, sender, cell))
          faults.push(`${sender.name}: ${cell.one.id}, with ids of the ${cell.of} team: ${fault}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }
  const isLogin = ({ one }: Cell): boolean => one.id === 'POST /api/session'
  await askTogether(cells.filter((cell) => !isLogin(cell)))
  // A login ends the session that the sender came with.
  await askTogether(cells.filter(isLogin))
  const after = await matrix.snapshot()
  if (!isDeepStrictEqual(before, after)) {
    faults.push(`${sender.name}: ${differenceOf(before, after)}`)
  }
  return { cells: cells.length, faults }
}

async function ask(matrix: Matrix, sender: Sender, cell: Cell): Promise<string[]> {
  const { one, search, body, right, shows } = cell
  const { ids } = matrix[cell.of]
  const path = one.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ''))
  const stop = new AbortController()
  const response = await fetch(`${matrix.url}${path}${search === '' ? (sender.search ?? '') : search}`, {
    method: one.method,
    headers: {
      ...(await sender.headers(one.id)),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
    signal: stop.signal,
  })
  const { status } = response
  // A stream has no end to wait for.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const text = isStream ? '' : await response.text()
  stop.abort()
  const shown = `${JSON.stringify([...response.headers])} ${text}`
  // That of a team without rights is one of every operation, and not listed with each.
  const isDocumented = isStream || (sender.is === 'astray' && status === 404)
  const faults = isDocumented ? [] : faultsOf(one.operation, answerOf(response, text))
  if (!right.includes(status))
    faults.push(`${status} in place of ${right.join(' or ')}: ${text.slice(0, 200)}`)
  if (shown.includes(matrix.foreign.canary)) faults.push(`${status} shows what the other team has`)
  if (!shows && shown.includes(matrix.own.canary)) faults.push(`${status} shows what the team has`)
  return faults
}

function answerOf({ status, headers }: Response, text: string): Parameters<typeof faultsOf>[1] {
  const isJson = headers.get('content-type') === 'application/json'
  const body: unknown = text === '' ? null : isJson ? JSON.parse(text) : text
  return { status, body, header: (name) => headers.get(name) }
}

/** What is not the same in two snapshots, by the lists that they are made of. */
function differenceOf(before: Snapshot, after: Snapshot): string {
  const changed = Object.keys(before).filter((list) => !isDeepStrictEqual(before[list], after[list]))
  return changed
    .map((list) => `${list} was ${JSON.stringify(before[list])} and is ${JSON.stringify(after[list])}`)
    .join('\n')
}
