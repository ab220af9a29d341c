import { ENQUEUE_BATCH_BYTES_MAX, ENQUEUE_BATCH_MAX, INTAKE_WAITING_MAX } from '../../../domain/limits.ts'
import { alphaOf, forNewcomersOf, headroomOf } from '../../../domain/shares/fair-share.ts'
import type { PendingPush } from './enqueue-batch.ts'

/** One team may have this much of the list while no other team wants any. */
const TEAM_ALPHA = alphaOf(0.9)
const FOR_NEWCOMERS = forNewcomersOf(INTAKE_WAITING_MAX)

type SizedPush = Pick<PendingPush, 'request'> & { readonly head: Pick<PendingPush['head'], 'team'> }

/**
 * Keeps the pushes of one shard that wait for a step, those of a team in the order in which they came. Teams share the
 * list by the rule of fair shares and take turns in every batch, so that large pushes of one team delay those of
 * another by a step and not by all that waits before them.
 */
export class WaitingPushes<Push extends SizedPush> {
  /** The pushes of each team that has any, the team whose turn is next first. */
  readonly #byTeam = new Map<string, Push[]>()
  #count = 0

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** No batch can become larger by waiting. */
  get fillsBatch(): boolean {
    return this.#count >= ENQUEUE_BATCH_MAX
  }

  has(push: Push): boolean {
    return this.#byTeam.get(push.head.team)?.includes(push) ?? false
  }

  /** Tells whether there is a place for one more push of the team. */
  hasPlace(team: string): boolean {
    const free = INTAKE_WAITING_MAX - this.#count
    const held = this.#byTeam.get(team)?.length ?? 0
    if (held === 0) return free > 0
    return headroomOf({ alpha: TEAM_ALPHA, available: free - FOR_NEWCOMERS, held }) > 0
  }

  add(push: Push): void {
    const { team } = push.head
    const pushes = this.#byTeam.get(team)
    if (pushes === undefined) this.#byTeam.set(team, [push])
    else pushes.push(push)
    this.#count += 1
  }

  /** Takes the next batch. The pushes of a team follow each other, because similar ones are written as one. */
  take(): Push[] {
    const batch = this.#deal().flatMap(({ team, pushes, dealt }) => {
      const taken = pushes.splice(0, dealt)
      // A team that had a turn is last in the next one.
      this.#byTeam.delete(team)
      if (pushes.length > 0) this.#byTeam.set(team, pushes)
      return taken
    })
    this.#count -= batch.length
    return batch
  }

  /**
   * Deals the next batch in rounds of one push for each team, until it is full, and answers how many each team has in
   * it.
   */
  #deal(): Array<{ readonly team: string; readonly pushes: Push[]; readonly dealt: number }> {
    // A batch cannot hold more teams than pushes.
    const teams = [...this.#byTeam.entries().take(ENQUEUE_BATCH_MAX)]
    const hands = teams.map(([team, pushes]) => ({ team, pushes, dealt: 0 }))
    let count = 0
    let bytes = 0
    for (let isOver = false; !isOver;) {
      isOver = true
      for (const hand of hands) {
        const push = hand.pushes[hand.dealt]
        if (push === undefined) continue
        bytes += bytesOf(push)
        const isFull = count >= ENQUEUE_BATCH_MAX || bytes > ENQUEUE_BATCH_BYTES_MAX
        if (count > 0 && isFull) return hands.filter(({ dealt }) => dealt > 0)
        hand.dealt += 1
        count += 1
        isOver = false
      }
    }
    return hands
  }
}

function bytesOf({ request }: SizedPush): number {
  return request.inline.length + request.large.length
}
