/** Who changed something, and by which way. */
export interface Actor {
  readonly kind: 'token' | 'user' | 'system'
  readonly name: string
  readonly via: 'api' | 'cli' | 'dashboard' | 'kubectl' | 'folder'
  /** Where the request came from; null when it is not known. */
  readonly address: string | null
}

export interface AuditedResource {
  readonly kind:
    | 'job'
    | 'queue'
    | 'cron'
    | 'window'
    | 'alert'
    | 'bulk'
    | 'token'
    | 'secret'
    | 'team'
    | 'session'
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
