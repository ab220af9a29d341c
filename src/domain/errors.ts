import { overQuotaText, QUOTA_RETRY_AFTER_SECONDS, type QuotaName } from './quotas.ts'

/**
 * The faults that callers tell apart. Expected outcomes (a duplicate push, a job in flight) are return values of the
 * ports, not exceptions.
 */
abstract class CodedError extends Error {
  abstract readonly code: string
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** Redis cannot be reached, is busy, loading, read-only or in failover. Nothing is half-written; a retry may work. */
export class StoreUnavailableError extends CodedError {
  readonly code = 'store_unavailable'
}

/** Redis has reached its memory limit: new jobs are refused, running ones end. */
export class StorageFullError extends CodedError {
  readonly code = 'storage_full'
  constructor(options?: ErrorOptions) {
    super('The job store is full.', options)
  }
}

/** Whether Redis is away or full: what fails by it may be tried again as it is. Anything else is a defect of ours. */
export function isOutage(error: unknown): boolean {
  return error instanceof StoreUnavailableError || error instanceof StorageFullError
}

/** A team has used up a quota; the message names it. */
export class QuotaExceededError extends CodedError {
  readonly code = 'quota_exceeded'
  readonly quota: QuotaName
  readonly retryAfterSeconds: number
  constructor(quota: QuotaName, limit: number, options?: ErrorOptions & { retryAfterSeconds?: number }) {
    super(overQuotaText(quota, limit), options)
    this.quota = quota
    this.retryAfterSeconds = options?.retryAfterSeconds ?? QUOTA_RETRY_AFTER_SECONDS
  }
}

/** A running role cannot go on, for the reason in the message. It stops, and its supervisor restarts it. */
export class RoleEndedError extends CodedError {
  readonly code = 'role_ended'
}

/** A backup cannot be made, read or put back, for the reason in the message. */
export class BackupError extends CodedError {
  readonly code = 'backup_failed'
}

/** The store of resources refused an edit, for the reason in the message. */
export class EditRefusedError extends CodedError {
  readonly code = 'edit_refused'
}

/** An edit was made for settings that are others by now. */
export class EditConflictError extends CodedError {
  readonly code = 'edit_conflict'
  /** Entity tag of the settings as they are; null = they have changed just now. */
  readonly version: string | null

  constructor(version: string | null) {
    super('The resource has changed since it was read: read it again and repeat the edit.')
    this.version = version
  }
}

/** An edit would send secret headers to another origin than they were given for. */
export class RedirectedHeadersError extends CodedError {
  readonly code = 'redirected_headers'
  /** Names of the headers that have to be given anew. */
  readonly headers: readonly string[]

  constructor(headers: readonly string[]) {
    super(`The URL is of another origin, and these headers are not given anew: ${headers.join(', ')}.`)
    this.headers = headers
  }
}

/**
 * Why a request to the Kubernetes API, or to a folder of manifests, failed. `unavailable`: no response, or a fault of the server; a write may or may
 * not have happened. `too_many`: the server asks for a pause. `gone`: the resource version is too old. `too_large`: the
 * response is longer than the client reads.
 */
export type ResourceApiFault =
  | 'unavailable'
  | 'too_many'
  | 'conflict'
  | 'gone'
  | 'too_large'
  | 'not_found'
  | 'invalid'
  | 'forbidden'
  | 'unauthorized'

/** The message is that of the API server or the folder, without secrets. */
export class ResourceApiError extends CodedError {
  readonly code = 'resource_api'
  readonly fault: ResourceApiFault
  /** The pause that Retry-After asked for; null without that header. */
  readonly retryAfterMs: number | null
  constructor(
    fault: ResourceApiFault,
    reason: string,
    options?: ErrorOptions & {
      readonly retryAfterMs?: number | null
      readonly source?: 'Kubernetes API' | 'Manifest folder'
    },
  ) {
    super(`${options?.source ?? 'Kubernetes API'}: ${reason}`, options)
    this.fault = fault
    this.retryAfterMs = options?.retryAfterMs ?? null
  }
}

export function isFault(error: unknown, fault: ResourceApiFault): boolean {
  return error instanceof ResourceApiError && error.fault === fault
}

/** A mistake of the person who starts the program; the message says how to correct it. The program exits with 2. */
export class StartupError extends CodedError {
  readonly code = 'startup'
}

/** Nothing answers at the address of Redis. A role that can wait for it may try again. */
export class StoreUnreachableError extends StartupError {
  /** Redis answers but refuses our commands: waiting alone does not help. */
  readonly isRefusal: boolean
  constructor(message: string, options?: ErrorOptions & { readonly isRefusal?: boolean }) {
    super(message, options)
    this.isRefusal = options?.isRefusal ?? false
  }
}

/** The text that a log has for a thrown value, which need not be an Error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
