/** A replica that is missing for this long has left, where no sentinel could make it the primary. */
const LEFT_AFTER_MS = 2_000
/** The same where sentinels choose: a failover is over by then, and its former primary has been told. */
const LEFT_AFTER_WITH_SENTINELS_MS = 10_000

/** What a server replicates, by the ids of its INFO. */
interface History {
  readonly id: string
  /** What it went on with when it was promoted. */
  readonly before: string
}

/**
 * How many replicas must confirm what is accepted: all that the primary has, and at least one.
 *
 * In a failover replicas leave the former primary one after the other, and the last of them still confirms what the next
 * primary will never know. So the number rises at once, and sinks only when a replica has been missing for a while, or when
 * all sentinels agree that there is no failover. It is kept when a connection leads to another server, as a former primary that
 * was restarted has few replicas and they confirm in vain; only those of a replica that was promoted are counted anew.
 */
export class ReplicasNeeded {
  readonly #leftAfterMs: number
  #count = 1
  #missingSinceMs: number | null = null
  #history = ''

  constructor({ hasSentinels }: { readonly hasSentinels: boolean }) {
    this.#leftAfterMs = hasSentinels ? LEFT_AFTER_WITH_SENTINELS_MS : LEFT_AFTER_MS
  }

  get count(): number {
    return this.#count
  }

  /**
   * @param online replicas that the primary has
   * @param seen.isSettled all sentinels have agreed, after the replicas were counted, that there is no failover
   */
  note(
    online: number,
    seen: { readonly nowMs: number; readonly isSettled: boolean; readonly history: History },
  ): void {
    // A former primary that was restarted begins a history, too, but goes on with none.
    const isPromoted = this.#history !== '' && seen.history.before === this.#history
    this.#history = seen.history.id
    if (online >= this.#count || isPromoted) {
      this.#count = Math.max(1, online)
      this.#missingSinceMs = null
      return
    }
    this.#missingSinceMs ??= seen.nowMs
    if (!seen.isSettled && seen.nowMs - this.#missingSinceMs < this.#leftAfterMs) return
    this.#count = Math.max(1, online)
    this.#missingSinceMs = null
  }
}
