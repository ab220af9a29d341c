/** Who changed something, and by which way. */
export interface Actor {
  readonly kind: 'token' | 'user' | 'system'
  readonly name: string
  readonly via: 'api' | 'cli' | 'dashboard' | 'kubectl' | 'folder'
  /** Where the request came from; null when it is not known. */
  readonly address: string | null
}

export const AUDITED_KINDS = [
  ...(['job', 'queue', 'cron', 'window', 'alert', 'bulk'] as const),
  ...(['token', 'secret', 'team', 'session'] as const),
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
  /** A verb, such as `cancel`, `edit` or `create`. */
  readonly action: string
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
  /** Redis time, Unix ms. */
  readonly atMs: number
  readonly outcome: AuditOutcome
}
