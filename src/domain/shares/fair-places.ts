import { alphaOf, forNewcomersOf, headroomOf } from './fair-share.ts'

/** Answer to a request for a place. `over`: this holder has its share; `full`: nobody can get one. */
export type PlaceAnswer<Kind extends string> =
  | { readonly kind: 'granted'; readonly leave: () => void }
  | { readonly kind: 'over'; readonly holder: Kind }
  | { readonly kind: 'full' }

const FULL = { kind: 'full' } as const

/**
 * A number of places that clients hold for a while, dealt by fair shares. Every place has a holder of each kind, such as a
 * team and one of its tokens, and each kind has the share that one holder may have of an otherwise empty pool. Who holds
 * nothing gets a place as long as one is free, and a few are free for them alone.
 */
export class FairPlaces<Kind extends string> {
  readonly #forNewcomers: number
  readonly #alphas: ReadonlyArray<readonly [kind: Kind, alpha: number]>
  /** Places held, by kind and name; holders of none have no entry. */
  readonly #held = new Map<string, number>()
  #free: number

  /** @param parts.shares above 0 and below 1 */
  constructor(parts: { readonly places: number; readonly shares: Readonly<Record<Kind, number>> }) {
    this.#free = parts.places
    this.#forNewcomers = forNewcomersOf(parts.places)
    const alphas: Array<readonly [kind: Kind, alpha: number]> = []
    for (const kind in parts.shares) alphas.push([kind, alphaOf(parts.shares[kind])])
    this.#alphas = alphas
  }

  /** Gives a place until `leave` is called; another call of the same `leave` does nothing. */
  take(holders: Readonly<Record<Kind, string>>): PlaceAnswer<Kind> {
    if (this.#free === 0) return FULL
    const available = this.#free - this.#forNewcomers
    for (const [kind, alpha] of this.#alphas) {
      const held = this.#held.get(keyOf(kind, holders)) ?? 0
      if (held > 0 && headroomOf({ alpha, available, held }) === 0) return { kind: 'over', holder: kind }
    }
    this.#count(holders, 1)
    let isHeld = true
    const leave = (): void => {
      if (isHeld) this.#count(holders, -1)
      isHeld = false
    }
    return { kind: 'granted', leave }
  }

  #count(holders: Readonly<Record<Kind, string>>, change: 1 | -1): void {
    this.#free -= change
    for (const [kind] of this.#alphas) {
      const key = keyOf(kind, holders)
      const held = (this.#held.get(key) ?? 0) + change
      if (held === 0) this.#held.delete(key)
      else this.#held.set(key, held)
    }
  }
}

function keyOf<Kind extends string>(kind: Kind, holders: Readonly<Record<Kind, string>>): string {
  return `${kind} ${holders[kind]}`
}
