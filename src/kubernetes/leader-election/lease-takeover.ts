import type { Clock } from '../../ports/runtime.ts'
import { isFault } from '../client/api-errors.ts'
import type { Lease, LeaseSpec, LeaseLock } from './lease-lock.ts'
import { microTime } from '../client/micro-time.ts'

/** What one attempt to hold the Lease found. Times are of the monotonic clock. */
export type Attempt =
  /** Ours, and nobody can take it sooner than the Lease's duration after `sentMs`. */
  | { readonly status: 'held'; readonly sentMs: number }
  | { readonly status: 'other'; readonly holder: string; readonly freeAtMs: number }

/**
 * One process's claim on the Lease, by the rules of client-go: a write is bound to the version it follows; another's
 * Lease is past when *we* have seen no change of it for its duration, whatever the times in it say, for clocks of
 * other machines prove nothing. Attempts must come one after another; one whose signal has aborted changes nothing
 * any more, in here or, but for a write on its way, out there.
 */
export interface LeaseTakeover {
  /** Takes or renews the Lease if that may be. Throws ResourceApiError, or the signal's reason. */
  attempt(signal: AbortSignal): Promise<Attempt>
  /** Makes the Lease free for the others at once, if it is ours. Throws the same. */
  release(signal: AbortSignal): Promise<void>
}

export interface LeaseClaimOptions {
  readonly store: LeaseLock
  readonly clock: Clock
  /** Of this very process: its like must not come again after a restart. */
  readonly identity: string
  readonly durationMs: number
}

export function createLeaseClaim(options: LeaseClaimOptions): LeaseTakeover {
  return new VersionedClaim(options)
}

interface Holder {
  readonly holder: string
  readonly freeAtMs: number
}

interface Sighting {
  readonly lease: Lease
  /** When this version was first seen. */
  readonly atMs: number
}

class VersionedClaim implements LeaseTakeover {
  readonly #options: LeaseClaimOptions
  /** The last version seen, also after the Lease was deleted. */
  #seen: Sighting | null = null
  /** Since when there has been no Lease, and when we last looked. */
  #absence: { readonly sinceMs: number; readonly lookMs: number } | null = null
  /** Nobody can have taken what we last wrote before this. */
  #oursUntilMs = Number.NEGATIVE_INFINITY
  /** As our last write left it; null = read before the next write. */
  #own: Lease | null = null

  constructor(options: LeaseClaimOptions) {
    this.#options = options
  }

  async attempt(signal: AbortSignal): Promise<Attempt> {
    return (await this.#renewUnread(signal)) ?? (await this.#readAndTake(signal))
  }

  async release(signal: AbortSignal): Promise<void> {
    const { store } = this.#options
    const lease = this.#own ?? (await store.read(signal))
    this.#own = null
    if (lease === null || !this.#isOurs(lease)) return
    const now = this.#microTime()
    const spec = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now }
    await store.replace(lease, spec, signal)
  }

  /** The usual renewal costs one request. null = someone has written since, or the Lease is gone. */
  async #renewUnread(signal: AbortSignal): Promise<Attempt | null> {
    const own = this.#own
    if (own === null) return null
    try {
      return await this.#write(signal, own.spec, (spec) => this.#options.store.replace(own, spec, signal))
    } catch (error) {
      if (isFault(error, 'conflict') || isFault(error, 'not_found')) return null
      throw error
    }
  }

  async #readAndTake(signal: AbortSignal): Promise<Attempt> {
    const { store, clock } = this.#options
    const lease = await store.read(signal)
    signal.throwIfAborted()
    this.#note(lease)
    const holder = lease === null ? this.#holderOfDeleted() : this.#holderOf(lease)
    if (holder !== null && clock.monotonicMs() < holder.freeAtMs) return { status: 'other', ...holder }
    return this.#write(signal, this.#seen?.lease.spec, (spec) =>
      lease === null ? store.create(spec, signal) : store.replace(lease, spec, signal),
    )
  }

  #note(lease: Lease | null): void {
    const nowMs = this.#options.clock.monotonicMs()
    if (lease === null) {
      // Between two looks far apart, one may have come and gone.
      const isSeamless = this.#absence !== null && nowMs - this.#absence.lookMs < this.#options.durationMs / 2
      this.#absence = { sinceMs: isSeamless ? this.#absence!.sinceMs : nowMs, lookMs: nowMs }
      return
    }
    this.#absence = null
    if (lease.metadata.resourceVersion === this.#seen?.lease.metadata.resourceVersion) return
    this.#seen = { lease, atMs: nowMs }
  }

  /** null = free, or ours. */
  #holderOf(lease: Lease): Holder | null {
    const { holderIdentity: holder = '', leaseDurationSeconds } = lease.spec ?? {}
    if (holder === '' || this.#isOurs(lease)) return null
    const durationMs =
      leaseDurationSeconds === undefined ? this.#options.durationMs : leaseDurationSeconds * 1000
    return { holder, freeAtMs: (this.#seen?.atMs ?? this.#options.clock.monotonicMs()) + durationMs }
  }

  /** Whoever held it may not know yet that it was deleted. Where there never was one, nobody did. */
  #holderOfDeleted(): Holder | null {
    const { clock, durationMs } = this.#options
    if (this.#seen === null || this.#absence === null || clock.monotonicMs() < this.#oursUntilMs) return null
    return { holder: 'whoever held it when it was deleted', freeAtMs: this.#absence.sinceMs + durationMs }
  }

  async #write(
    signal: AbortSignal,
    former: LeaseSpec | undefined,
    write: (spec: LeaseSpec) => Promise<Lease>,
  ): Promise<Attempt> {
    const { clock } = this.#options
    const sentMs = clock.monotonicMs()
    // Until the answer is in, nobody knows which version stands.
    this.#own = null
    const lease = await write(this.#specAfter(former))
    signal.throwIfAborted()
    this.#own = lease
    this.#oursUntilMs = sentMs + this.#options.durationMs
    this.#absence = null
    this.#seen = { lease, atMs: clock.monotonicMs() }
    return { status: 'held', sentMs }
  }

  #specAfter(former: LeaseSpec | undefined): LeaseSpec {
    const { identity, durationMs } = this.#options
    const now = this.#microTime()
    const wasOurs = former?.holderIdentity === identity
    const transitions = former?.leaseTransitions ?? 0
    return {
      holderIdentity: identity,
      leaseDurationSeconds: durationMs / 1000,
      acquireTime: wasOurs ? (former.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: former === undefined || wasOurs ? transitions : transitions + 1,
    }
  }

  #isOurs(lease: Lease): boolean {
    return lease.spec?.holderIdentity === this.#options.identity
  }

  #microTime(): string {
    return microTime(this.#options.clock.wallMs())
  }
}
