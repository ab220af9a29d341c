import { HEADROOM_ENTRIES_MAX } from '../../domain/limits.ts'

/** Slots and bytes that one team or queue holds in this executor. */
export interface Account {
  readonly key: string
  slots: number
  bytes: number
}

/** Idle accounts are kept up to this number, for teams and queues that come and go with every job. */
const KEPT_MAX = 4_096

/** Accounts by key. Owns an upper bound of the largest one, which saves reading them all for every claim. */
export class UsageAccounts<T extends Account> {
  readonly #byKey = new Map<string, T>()
  #largest = 0
  #dropIdleAt = KEPT_MAX

  get(key: string): T | undefined {
    return this.#byKey.get(key)
  }

  add(account: T): T {
    if (this.#byKey.size >= this.#dropIdleAt) this.#dropIdle()
    this.#byKey.set(account.key, account)
    return account
  }

  /** Slots of the largest account, now or at the last `headroomBelow`. */
  get largest(): number {
    return this.#largest
  }

  hold(account: T, bytes: number): void {
    account.slots += 1
    account.bytes += bytes
    if (account.slots > this.#largest) this.#largest = account.slots
  }

  free(account: T, bytes: number): void {
    account.slots -= 1
    account.bytes -= bytes
  }

  /** The headroom of busy accounts that have less than `enough`; of the largest ones when there are too many to list. */
  headroomBelow(enough: number, headroomOf: (account: T) => number): Map<string, number> {
    const found: T[] = []
    let largest = 0
    for (const account of this.#byKey.values()) {
      if (account.slots > largest) largest = account.slots
      if (account.slots > 0 && headroomOf(account) < enough) found.push(account)
    }
    this.#largest = largest
    return new Map(largestOf(found).map((account) => [account.key, headroomOf(account)]))
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#byKey.values()
  }

  #dropIdle(): void {
    for (const account of this.#byKey.values()) if (account.slots === 0) this.#byKey.delete(account.key)
    // Where most accounts are busy, the next scan must not come with the very next account.
    this.#dropIdleAt = Math.max(KEPT_MAX, 2 * this.#byKey.size)
  }
}

/** An account that is left out may exceed its share by one claim, which matters least for the smallest. */
function largestOf<T extends Account>(accounts: readonly T[]): readonly T[] {
  if (accounts.length <= HEADROOM_ENTRIES_MAX) return accounts
  const sizes = Float64Array.from(accounts, ({ slots }) => slots).sort()
  const least = sizes[accounts.length - HEADROOM_ENTRIES_MAX] ?? 0
  const above = accounts.filter(({ slots }) => slots > least)
  const level = accounts.filter(({ slots }) => slots === least)
  return [...above, ...level.slice(0, HEADROOM_ENTRIES_MAX - above.length)]
}
