export interface ScoredMember {
  readonly member: string
  readonly score: number
}

/** Members by score, then by name. */
export class SortedSet {
  readonly #scores = new Map<string, number>()
  #sorted: ScoredMember[] = []

  get size(): number {
    return this.#scores.size
  }

  score(member: string): number | undefined {
    return this.#scores.get(member)
  }

  /** Lowest first. The caller must not change it. */
  entries(): readonly ScoredMember[] {
    return this.#sorted
  }

  set(member: string, score: number): void {
    this.remove(member)
    this.#scores.set(member, score)
    this.#sorted.splice(this.#placeOf(member, score), 0, { member, score })
  }

  remove(member: string): boolean {
    const score = this.#scores.get(member)
    if (score === undefined) return false
    this.#scores.delete(member)
    this.#sorted.splice(this.#placeOf(member, score), 1)
    return true
  }

  /** Index of the first entry that does not sort before this one. */
  #placeOf(member: string, score: number): number {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const entry = this.#sorted[middle] as ScoredMember
      const isBefore = entry.score < score || (entry.score === score && entry.member < member)
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }
}
