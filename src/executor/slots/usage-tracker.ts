import { CLAIM_BATCH_MAX, HEADROOM_ENTRIES_MAX } from '../../domain/limits.ts'
import type { ClaimGrant } from '../../ports/jobs.ts'
import type { CallQuotas } from '../../ports/quotas.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { CapacityPool } from './capacity-pool.ts'
import { FairShare, type Shares } from './fair-share.ts'
import { UsageAccounts, type Account } from './usage-accounts.ts'

/** Slots and bytes that a team holds in all shards. */
export interface TeamAccount extends Account {
  /** Queues of the team that hold a slot. */
  busyQueues: number
  /** The queue that became busy last. */
  lastQueue: QueueAccount | null
  /** The team counts as having several busy queues until this time. */
  severalQueuesUntilMs: number
}

export interface QueueAccount extends Account {
  readonly team: TeamAccount
}

/** A team that had several busy queues counts as having them for this long. */
const SEVERAL_QUEUES_MS = 60_000
/** The part of all bytes that only a team or queue that holds none may take. */
const NEWCOMER_BYTES_SHARE = 0.02
const NO_ENTRIES: ReadonlyMap<string, number> = new Map()

export interface UsageTrackerOptions {
  readonly slots: CapacityPool
  readonly bytes: CapacityPool
  readonly newcomerSlots: number
  readonly shares: Shares
  readonly clock: Clock
  readonly quotas: CallQuotas
}

/** Owns what each team and queue holds, and computes from it how many more jobs each may run. */
export class UsageTracker {
  readonly #options: UsageTrackerOptions
  readonly #slotShare: FairShare
  readonly #byteShare: FairShare
  readonly #teams = new UsageAccounts<TeamAccount>()

  constructor(options: UsageTrackerOptions) {
    const { slots, bytes, newcomerSlots, shares } = options
    this.#options = options
    this.#slotShare = new FairShare(slots, { shares, forNewcomers: newcomerSlots })
    const newcomerBytes = Math.floor(bytes.total * NEWCOMER_BYTES_SHARE)
    this.#byteShare = new FairShare(bytes, { shares, forNewcomers: newcomerBytes })
  }

  team(key: string): TeamAccount | undefined {
    return this.#teams.get(key)
  }

  /** The queue's account, created if missing. @param queues the accounts of its shard */
  queue(queues: UsageAccounts<QueueAccount>, key: string, teamKey: string): QueueAccount {
    const team =
      this.#teams.get(teamKey) ??
      this.#teams.add({
        key: teamKey,
        slots: 0,
        bytes: 0,
        busyQueues: 0,
        lastQueue: null,
        severalQueuesUntilMs: 0,
      })
    const known = queues.get(key)
    // The account of an idle team may have been dropped and created again.
    return known?.team === team ? known : queues.add({ key, team, slots: 0, bytes: 0 })
  }

  occupy(queues: UsageAccounts<QueueAccount>, queue: QueueAccount, bytes: number): void {
    const { team } = queue
    if (queue.slots === 0) {
      if (team.lastQueue !== null && team.lastQueue !== queue) this.#noteSeveralQueues(team)
      team.busyQueues += 1
      team.lastQueue = queue
    }
    this.#teams.hold(team, bytes)
    queues.hold(queue, bytes)
  }

  free(queues: UsageAccounts<QueueAccount>, queue: QueueAccount, bytes: number): void {
    const { team } = queue
    this.#teams.free(team, bytes)
    queues.free(queue, bytes)
    if (queue.slots > 0) return
    if (team.busyQueues > 1) this.#noteSeveralQueues(team)
    team.busyQueues -= 1
  }

  /** How many more jobs of a team may run. */
  teamHeadroom(team: TeamAccount): number {
    const byQuota = this.#options.quotas.headroomOf(team.key, team.slots) ?? Number.POSITIVE_INFINITY
    const bySlots = this.#slotShare.teamHeadroom(team.slots)
    if (team.slots === 0) return Math.min(byQuota, this.#atLeastOne(bySlots))
    return Math.min(byQuota, bySlots, jobsIn(this.#byteShare.teamHeadroom(team.bytes), team))
  }

  /** How many more jobs of a queue may run as far as its own share goes. */
  queueHeadroom(queue: QueueAccount): number {
    const isOnly =
      queue.team.busyQueues <= 1 && queue.team.severalQueuesUntilMs <= this.#options.clock.monotonicMs()
    const [slotShare, byteShare] = [this.#slotShare, this.#byteShare]
    const bySlots = isOnly ? slotShare.onlyQueueHeadroom(queue.slots) : slotShare.queueHeadroom(queue.slots)
    if (queue.slots === 0) return this.#atLeastOne(bySlots)
    const bytes = isOnly ? byteShare.onlyQueueHeadroom(queue.bytes) : byteShare.queueHeadroom(queue.bytes)
    return Math.min(bySlots, jobsIn(bytes, queue))
  }

  /** How many more jobs of a queue may run by its own share and its team's. */
  headroom(queue: QueueAccount): number {
    return Math.min(this.teamHeadroom(queue.team), this.queueHeadroom(queue))
  }

  /** The headroom to list in a grant of `slots` slots and `bytes` bytes of the memory budget. */
  grantHeadroom(
    queues: UsageAccounts<QueueAccount>,
    { slots, bytes }: { readonly slots: number; readonly bytes: number },
  ): Omit<ClaimGrant, 'slots' | 'bytes'> {
    // No one holds more bytes than all together: with enough headroom for that, bytes limit nobody.
    const areBytesAmple = this.#byteShare.queueHeadroom(this.#options.bytes.occupied) >= bytes
    const { quotas } = this.#options
    const byQuota = quotas.newcomerHeadroom()
    const withQuota = quotas.teamsWithQuota()
    const hasQuotas = byQuota !== null || withQuota.length > 0
    const areTeamsFree =
      !hasQuotas && areBytesAmple && this.#slotShare.teamHeadroom(this.#teams.largest) >= slots
    const areQueuesFree = areBytesAmple && this.#slotShare.queueHeadroom(queues.largest) >= slots
    const [newTeam, newQueue] = [this.#slotShare.teamHeadroom(0), this.#slotShare.queueHeadroom(0)]
    return {
      otherTeamsHeadroom: Math.min(slots, byQuota ?? slots, this.#atLeastOne(newTeam)),
      otherQueuesHeadroom: Math.min(slots, this.#atLeastOne(newQueue)),
      teamHeadroom: areTeamsFree ? NO_ENTRIES : this.#listTeams(slots, withQuota),
      queueHeadroom: areQueuesFree
        ? NO_ENTRIES
        : queues.headroomBelow(slots, (queue) => this.queueHeadroom(queue)),
    }
  }

  /** Busy teams, then idle ones that have a quota. */
  #listTeams(slots: number, withQuota: readonly string[]): ReadonlyMap<string, number> {
    const listed = this.#teams.headroomBelow(slots, (team) => this.teamHeadroom(team))
    for (const key of withQuota) {
      if (listed.size >= HEADROOM_ENTRIES_MAX) break
      if ((this.#teams.get(key)?.slots ?? 0) > 0) continue
      const headroom = this.#options.quotas.headroomOf(key, 0)
      if (headroom !== null) listed.set(key, Math.min(slots, headroom))
    }
    return listed
  }

  /** A newcomer may run one job while any slot is available. */
  #atLeastOne(headroom: number): number {
    return this.#options.slots.available === 0 ? 0 : Math.max(1, headroom)
  }

  #noteSeveralQueues(team: TeamAccount): void {
    team.severalQueuesUntilMs = this.#options.clock.monotonicMs() + SEVERAL_QUEUES_MS
  }
}

/** How many jobs of the account's mean size fit into `bytes`. */
function jobsIn(bytes: number, { slots, bytes: held }: Account): number {
  return held === 0 ? CLAIM_BATCH_MAX : Math.floor((bytes * slots) / held)
}
