/** Who changed something, and by which way. */
export interface Actor {
  readonly kind: 'token' | 'user' | 'system'
  readonly name: string
  readonly via: 'api' | 'cli' | 'dashboard' | 'kubectl' | 'folder'
  /** Where the request came from; null when it is not known. */
  readonly address: string | null
}

/** Actions on a resource that the audit log notes. */
export const AUDITED_ACTIONS = [
  'create',
  'edit',
  'delete',
  'pause',
  'resume',
  'drain',
  'fire',
  'retry',
  'replay',
  'duplicate',
  'run',
  'abort',
  'cancel',
  'read',
  'acknowledge',
  'mute',
  'resolve',
  'reopen',
  'test',
  'login',
  'logout',
] as const
export type AuditedAction = (typeof AUDITED_ACTIONS)[number]

export const AUDITED_KINDS = [
  'job',
  'queue',
  'cron',
  'window',
  'alert',
  'issue',
  'bulk',
  'token',
  'secret',
  'team',
  'session',
  'channel',
] as const

export interface AuditedResource {
  readonly kind: (typeof AUDITED_KINDS)[number]
  /** null when there is none, as of several things at once. */
  readonly id: number | string | null
  readonly name: string | null
}

/** Fields that changed, without secrets, payloads and headers; null when there was or is nothing. */
export type AuditedFields = Readonly<Record<string, unknown>> | null

/** One change that somebody asked for. */
export interface AuditEntry {
  readonly actor: Actor
  readonly action: AuditedAction
  readonly resource: AuditedResource
  readonly before: AuditedFields
  readonly after: AuditedFields
}

/** How a change ended. `unknown` = the process died, or an API of others did not answer, before that was known. */
export type AuditOutcome = 'done' | 'refused' | 'unknown'

/** An entry as it is kept. */
export interface AuditRecord extends AuditEntry {
  /** Rises with time; unique within a team. */
  readonly id: string
  /** Redis time of the first change, Unix ms. */
  readonly atMs: number
  /** Like changes of one actor that were made within a minute; 1 or more. */
  readonly count: number
  /** Redis time of the last change, Unix ms. */
  readonly lastAtMs: number
  /** The ids of the first jobs or alerts among them; none of a single change. */
  readonly ids: readonly number[]
  readonly outcome: AuditOutcome
}

/**
 * Equal for changes of one actor that one record may tell of: the same act on jobs of one queue or on alerts, a run of the
 * same cron, or the same difference of the same thing.
 */
export function likenessOf({ actor, action, resource, before, after }: AuditEntry): readonly unknown[] {
  const { kind, id, name } = resource
  const isOneOfMany = kind === 'job' || (kind === 'alert' && id !== null)
  const what = isOneOfMany ? [] : action === 'run' ? [id] : [id, before, after]
  return [actor.kind, actor.name, actor.via, actor.address, action, kind, name, ...what]
}
