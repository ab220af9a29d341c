import { CLAIM_BATCH_MAX } from '../../../domain/limits.ts'

/** Older ones may be empty again, and a claim that asks only such queues finds nothing. */
const FRESH_MS = 20

/** Queues of each shard that this process has just made runnable: the next claim asks them without looking for any. */
export class WokenQueues {
  readonly #byShard = new Map<
    number,
    { readonly notedAtMs: number; readonly candidates: Array<string | number> }
  >()

  /** @param queues number of the team and local id of each, in turns; as many as a claim asks are kept */
  note(shard: number, queues: readonly string[], nowMs: number): void {
    const byTeam = new Map<string, string[]>()
    const end = Math.min(queues.length, 2 * CLAIM_BATCH_MAX)
    for (let at = 0; at < end; at += 2) {
      const [team = '', localId = ''] = [queues[at], queues[at + 1]]
      const known = byTeam.get(team)
      if (known === undefined) byTeam.set(team, [localId])
      else known.push(localId)
    }
    const candidates = [...byTeam].flatMap(([team, localIds]) => [team, localIds.length, ...localIds])
    this.#byShard.set(shard, { notedAtMs: nowMs, candidates })
  }

  /**
   * Answers, and forgets, the queues to ask next, in the form in which claims do; none when nothing was noted just now.
   */
  take(shard: number, nowMs: number): ReadonlyArray<string | number> {
    const noted = this.#byShard.get(shard)
    if (noted === undefined) return []
    this.#byShard.delete(shard)
    return Math.abs(nowMs - noted.notedAtMs) <= FRESH_MS ? noted.candidates : []
  }
}
