import { isFault } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import { microTime } from '../client/micro-time.ts'
import type { Lease, LeaseLock, LeaseSpec } from './lease-lock.ts'

/** What one try to acquire or renew the Lease found. Times are monotonic. */
export type AcquireResult =
  /** The Lease is ours, and nobody can take it over sooner than the lease duration after `sentMs`. */
  | { readonly status: 'held'; readonly sentMs: number }
  | { readonly status: 'other'; readonly holder: string; readonly freeAtMs: number }

export interface LeaseTakeoverOptions {
  readonly lock: LeaseLock
  readonly clock: Clock
  /** Names this process; a restarted process needs another name. */
  readonly identity: string
  readonly durationMs: number
}

type Holder = Omit<AcquireResult & { readonly status: 'other' }, 'status'>

/**
 * Decides when this process may take the Lease, by the rules of client-go: each write is bound to the resource version it
 * follows, and another's Lease has expired when *we* have seen no change of it for its duration. Its own timestamps do not
 * count, for clocks of other machines prove nothing. Calls must not overlap. A call whose signal has aborted changes
 * nothing any more, except that a write in flight may still arrive.
 */
export class LeaseTakeover {
  readonly #options: LeaseTakeoverOptions
  /** The last version that was observed, and when we first saw it. It is kept when the Lease is deleted. */
  #observed: { readonly lease: Lease; readonly atMs: number } | null = null
  /** Since when the Lease has been missing, and when we last checked. */
  #absence: { readonly sinceMs: number; readonly checkedMs: number } | null = null
  /** Nobody can have taken over what we last wrote before this time. */
  #heldUntilMs = Number.NEGATIVE_INFINITY
  /** The Lease as our last write left it; null = read it before the next write. */
  #own: Lease | null = null

  constructor(options: LeaseTakeoverOptions) {
    this.#options = options
  }

  /** Takes or renews the Lease if we may. Throws ResourceApiError, or the signal's reason. */
  async tryAcquireOrRenew(signal: AbortSignal): Promise<AcquireResult> {
    return (await this.#renewUnread(signal)) ?? (await this.#readAndAcquire(signal))
  }

  /** Frees the Lease for the others, if it is ours. Throws what `tryAcquireOrRenew` throws. */
  async release(signal: AbortSignal): Promise<void> {
    const { lock } = this.#options
    const lease = this.#own ?? (await lock.get(signal))
    this.#own = null
    if (lease === null || !this.#isOurs(lease)) return
    const now = this.#microTime()
    const spec = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now }
    await lock.update(lease, spec, signal)
  }

  /** Renews in one request, as is usual. null = someone has written since, or the Lease was deleted. */
  async #renewUnread(signal: AbortSignal): Promise<AcquireResult | null> {
    const own = this.#own
    if (own === null) return null
    try {
      return await this.#write(signal, own.spec, (spec) => this.#options.lock.update(own, spec, signal))
    } catch (error) {
      if (isFault(error, 'conflict') || isFault(error, 'not_found')) return null
      throw error
    }
  }

  async #readAndAcquire(signal: AbortSignal): Promise<AcquireResult> {
    const { lock, clock } = this.#options
    const lease = await lock.get(signal)
    signal.throwIfAborted()
    this.#observe(lease)
    const holder = lease === null ? this.#holderOfDeleted() : this.#holderOf(lease)
    if (holder !== null && clock.monotonicMs() < holder.freeAtMs) return { status: 'other', ...holder }
    return this.#write(signal, this.#observed?.lease.spec, (spec) =>
      lease === null ? lock.create(spec, signal) : lock.update(lease, spec, signal),
    )
  }

  #observe(lease: Lease | null): void {
    const nowMs = this.#options.clock.monotonicMs()
    if (lease === null) {
      const absence = this.#absence
      // Between two checks that are far apart, another Lease may have come and gone.
      const isContinuous = absence !== null && nowMs - absence.checkedMs < this.#options.durationMs / 2
      this.#absence = { sinceMs: isContinuous ? absence.sinceMs : nowMs, checkedMs: nowMs }
      return
    }
    this.#absence = null
    if (lease.metadata.resourceVersion === this.#observed?.lease.metadata.resourceVersion) return
    this.#observed = { lease, atMs: nowMs }
  }

  /** null = the Lease is free, or ours. */
  #holderOf(lease: Lease): Holder | null {
    const { holderIdentity: holder = '', leaseDurationSeconds } = lease.spec ?? {}
    if (holder === '' || this.#isOurs(lease)) return null
    const durationMs =
      leaseDurationSeconds === undefined ? this.#options.durationMs : leaseDurationSeconds * 1000
    return { holder, freeAtMs: (this.#observed?.atMs ?? this.#options.clock.monotonicMs()) + durationMs }
  }

  /** The holder of a deleted Lease may not know of the deletion yet. Where there never was a Lease, there is no holder. */
  #holderOfDeleted(): Holder | null {
    const { clock, durationMs } = this.#options
    if (this.#observed === null || this.#absence === null || clock.monotonicMs() < this.#heldUntilMs)
      return null
    return { holder: 'the last holder before it was deleted', freeAtMs: this.#absence.sinceMs + durationMs }
  }

  async #write(
    signal: AbortSignal,
    former: LeaseSpec | undefined,
    write: (spec: LeaseSpec) => Promise<Lease>,
  ): Promise<AcquireResult> {
    const { clock } = this.#options
    const sentMs = clock.monotonicMs()
    // Until the answer arrives, the current version is unknown.
    this.#own = null
    const lease = await write(this.#specAfter(former))
    signal.throwIfAborted()
    this.#own = lease
    this.#heldUntilMs = sentMs + this.#options.durationMs
    this.#absence = null
    this.#observed = { lease, atMs: clock.monotonicMs() }
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
