import type { AuditRecord } from '../../../../clients/typescript/src/client.ts'
import { textOf } from '../../format/values/known-values.ts'
import { plural } from '../../format/numbers.ts'

/** `ann` + before + thing + after: such as `paused the queue` `emails`. The thing may be a link. */
export interface Sentence {
  readonly actor: string
  readonly before: string
  /** Empty where there is none. */
  readonly thing: string
  readonly after: string
}

export const ACTIONS: readonly string[] =
  'create edit delete pause resume drain fire retry replay duplicate run abort read acknowledge mute resolve reopen test login logout'.split(
    ' ',
  )

/** What was done, and what was to be done, of those that do not just take an `ed`. */
const IRREGULAR: Readonly<Record<string, readonly [done: string, to: string]>> = {
  run: ['ran', 'run'],
  read: ['marked as read', 'mark as read'],
  login: ['logged in', 'log in'],
  logout: ['logged out', 'log out'],
}

/** How far it came, in front of the verb. */
const TRIED: Readonly<Record<AuditRecord['outcome'], string>> = {
  done: '',
  refused: 'tried to',
  unknown: 'asked to',
}

const NOUNS: Readonly<Record<string, string>> = {
  job: 'job',
  alert: 'alert',
  window: 'the maintenance window',
  secret: 'the signing secret',
  team: 'the settings of the team',
  session: '',
}

/** Nobody is known who deleted a resource by kubectl, or wrote a file. */
const UNKNOWN = new Set(['', 'unknown'])

export function sentenceOf(record: AuditRecord): Sentence {
  const { actor, resource, outcome } = record
  const verb = verbOf(record)
  return {
    actor: UNKNOWN.has(actor.name) ? 'Somebody' : actor.name,
    before: [textOf(TRIED, outcome), verb, nounOf(record)].filter((word) => word !== '').join(' '),
    thing:
      resource.kind === 'team' || resource.kind === 'session' || isOfMany(record) ? '' : thingOf(resource),
    after: afterOf(record),
  }
}

function verbOf({ action, resource, outcome, after }: AuditRecord): string {
  const isDone = outcome === 'done'
  if (action === 'drain' && after?.['is_draining'] === false)
    return isDone ? 'stopped draining' : 'stop draining'
  const verb = action === 'delete' && resource.kind === 'token' ? 'revoke' : action
  const [done, to] = IRREGULAR[verb] ?? [pastOf(verb), verb]
  return isDone ? done : to
}

function pastOf(verb: string): string {
  return verb.replace(/e?$/, 'ed').replace(/([^aeiou])yed$/, '$1ied')
}

/** Several jobs or alerts; of anything else the same was done several times. */
export function isOfMany({ count, resource: { kind } }: AuditRecord): boolean {
  return count > 1 && (kind === 'job' || kind === 'alert')
}

function nounOf(record: AuditRecord): string {
  const { resource, after } = record
  if (isOfMany(record)) return plural(record.count, resource.kind)
  if (resource.id !== null || resource.name !== null) return nounOfKind(resource.kind)
  const count = after?.['count']
  if (resource.kind === 'alert') return typeof count === 'number' ? `${count} alerts` : 'alerts'
  return nounOfKind(resource.kind)
}

function nounOfKind(kind: string): string {
  return NOUNS[kind] ?? `the ${kind}`
}

/** A job has the name of its queue, everything else its own. */
function thingOf({ kind, id, name }: AuditRecord['resource']): string {
  if (kind === 'job' || kind === 'alert' || kind === 'bulk') return id === null ? '' : String(id)
  return name ?? (id === null ? '' : String(id))
}

function afterOf(record: AuditRecord): string {
  const times = record.count > 1 && !isOfMany(record) ? `, ${record.count} times` : ''
  return `${detailOf(record)}${times}`
}

function detailOf({ action, resource, after, outcome }: AuditRecord): string {
  if (resource.kind === 'job' && resource.name !== null) return `of ${resource.name}`
  if (resource.kind === 'bulk' && typeof after?.['action'] === 'string') {
    const matched = after['matched']
    return `: ${after['action']}${typeof matched === 'number' ? ` ${matched} jobs` : ''}`
  }
  if (action === 'create' && resource.kind === 'session') return 'a link that logs in'
  if (action === 'test' && outcome === 'done' && after?.['ok'] === false) return ', which did not take it'
  return action === 'logout' && after?.['everywhere'] === true ? 'everywhere' : ''
}
