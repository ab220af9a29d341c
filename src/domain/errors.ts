import { overQuotaText } from './quota-texts.ts'
import { QUOTA_RETRY_AFTER_SECONDS, type QuotaName } from './quotas.ts'

/**
 * The catalogue of faults that callers handle by kind. Expected ends (a duplicate push, a job in flight) are
 * values of the port that answers them, not exceptions.
 */

/** Redis cannot be reached, is busy, loading, read-only or in failover. Nothing half-written; try again. */
export class StoreUnavailableError extends Error {
  readonly code = 'store_unavailable'
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'StoreUnavailableError'
  }
}

/** Redis has reached its memory limit: new jobs are refused, running ones end. */
export class StorageFullError extends Error {
  readonly code = 'storage_full'
  constructor(options?: ErrorOptions) {
    super('The job store is full.', options)
    this.name = 'StorageFullError'
  }
}

/** A team holds as much as it may; the message names the quota. */
export class QuotaExceededError extends Error {
  readonly code = 'quota_exceeded'
  readonly quota: QuotaName
  readonly retryAfterSeconds: number
  constructor(quota: QuotaName, limit: number, options?: ErrorOptions & { retryAfterSeconds?: number }) {
    super(overQuotaText(quota, limit), options)
    this.name = 'QuotaExceededError'
    this.quota = quota
    this.retryAfterSeconds = options?.retryAfterSeconds ?? QUOTA_RETRY_AFTER_SECONDS
  }
}

/** A role that runs cannot go on. It stops, and whoever runs it starts it anew; the message says why. */
export class RoleEndedError extends Error {
  readonly code = 'role_ended'
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'RoleEndedError'
  }
}

/** An edit that the place where resources are kept does not take; the message says why. */
export class EditRefusedError extends Error {
  readonly code = 'edit_refused'
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'EditRefusedError'
  }
}

/**
 * Why the Kubernetes API server did not do what it was asked. `unavailable`: no answer, or a fault of its own; nothing
 * is known of a write. `too_many`: it asks for a pause. `gone`: the version asked for is too old. `too_large`: its answer
 * is longer than what is read of one.
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

/** The message is the API server's own, without a secret in it. */
export class ResourceApiError extends Error {
  readonly code = 'resource_api'
  readonly fault: ResourceApiFault
  /** As asked for by Retry-After; null when nothing was said. */
  readonly retryAfterMs: number | null
  constructor(
    fault: ResourceApiFault,
    reason: string,
    options?: ErrorOptions & { readonly retryAfterMs?: number | null },
  ) {
    super(`The Kubernetes API answered: ${reason}`, options)
    this.name = 'ResourceApiError'
    this.fault = fault
    this.retryAfterMs = options?.retryAfterMs ?? null
  }
}

/** A mistake of the person who starts the program; the message says how to mend it. Ends the program with 2. */
export class StartupError extends Error {
  readonly code = 'startup'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartupError'
  }
}

/** Nothing answers at the address of Redis. Whoever can do without it for a while may try again. */
export class StoreUnreachableError extends StartupError {
  /** Something answers, and takes no commands from us: waiting alone does not help. */
  readonly isRefusal: boolean
  constructor(message: string, options?: ErrorOptions & { readonly isRefusal?: boolean }) {
    super(message, options)
    this.name = 'StoreUnreachableError'
    this.isRefusal = options?.isRefusal ?? false
  }
}

/** What a log says about a thrown value, which need not be an Error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
