import { HEADROOM_ENTRIES_MAX } from '../../domain/limits.ts'

/** What one team, or one queue, holds here. */
export interface Account {
  readonly key: string
  slots: number
  bytes: number
}

/** Accounts that hold nothing are kept up to so many, for whoever comes and goes with every job. */
const KEPT_MAX = 4_096

/** Accounts by name. Owns: a bound on what the largest holds, which saves looking at all of them. */
export class Accounts<T extends Account> {
  readonly #byKey = new Map<string, T>()
  #largest = 0
  #forgetAt = KEPT_MAX

  get(key: string): T | undefined {
    return this.#byKey.get(key)
  }

  add(account: T): T {
    if (this.#byKey.size >= this.#forgetAt) this.#forgetIdle()
    this.#byKey.set(account.key, account)
    return account
  }

  /** What the largest holds, or held when they were last looked at. */
  get largest(): number {
    return this.#largest
  }

  hold(account: T, bytes: number): void {
    account.slots += 1
    account.bytes += bytes
    if (account.slots > this.#largest) this.#largest = account.slots
  }

  release(account: T, bytes: number): void {
    account.slots -= 1
    account.bytes -= bytes
  }

  /** The rooms of those that have less than `enough`: of the largest, when there are too many to tell of. */
  rooms(enough: number, roomOf: (account: T) => number): Map<string, number> {
    const found: T[] = []
    let largest = 0
    for (const account of this.#byKey.values()) {
      if (account.slots > largest) largest = account.slots
      if (account.slots > 0 && roomOf(account) < enough) found.push(account)
    }
    this.#largest = largest
    return new Map(largestOf(found).map((account) => [account.key, roomOf(account)]))
  }

  *[Symbol.iterator](): IterableIterator<T> {
    yield* this.#byKey.values()
  }

  #forgetIdle(): void {
    for (const account of this.#byKey.values()) if (account.slots === 0) this.#byKey.delete(account.key)
    // Where most are busy, not with every new one.
    this.#forgetAt = Math.max(KEPT_MAX, 2 * this.#byKey.size)
  }
}

/** One that is left out may exceed its share by what one claim brings: of the largest that is the least. */
function largestOf<T extends Account>(accounts: readonly T[]): readonly T[] {
  if (accounts.length <= HEADROOM_ENTRIES_MAX) return accounts
  const sizes = Float64Array.from(accounts, ({ slots }) => slots).sort()
  const least = sizes[accounts.length - HEADROOM_ENTRIES_MAX] ?? 0
  const above = accounts.filter(({ slots }) => slots > least)
  const level = accounts.filter(({ slots }) => slots === least)
  return [...above, ...level.slice(0, HEADROOM_ENTRIES_MAX - above.length)]
}
