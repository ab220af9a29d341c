import { CLAIM_BATCH_MAX, HEADROOM_ENTRIES_MAX } from '../../domain/limits.ts'
import type { CallQuotas } from '../../ports/quotas.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { ClaimGrant } from '../../ports/jobs.ts'
import type { ByteBudget } from './byte-budget.ts'
import { Accounts, type Account } from './share-accounts.ts'
import { ShareRule, type Shares } from './share-rule.ts'

/** What a team holds here, in all shards. */
export interface TeamAccount extends Account {
  /** Of its queues, how many hold a slot. */
  busyQueues: number
  /** The queue that was the last to take its first slot. */
  lastQueue: QueueAccount | null
  /** Until then two of its queues count as at work beside each other. */
  severalUntilMs: number
}

/** What a queue holds here. */
export interface QueueAccount extends Account {
  readonly team: TeamAccount
}

export type Rooms = Omit<ClaimGrant, 'slots' | 'bytes'>

/** How long two queues of a team count as at work beside each other after they were. */
const SEVERAL_MS = 60_000
/** Of bytes, who holds none may take these. */
const BYTE_SEATS_SHARE = 0.02
const NO_ROOMS: ReadonlyMap<string, number> = new Map()

/** Who holds what of the slots and bytes, and what the rule lets each have beside it. */
export class ShareBook {
  readonly #slots: ByteBudget
  readonly #bytes: ByteBudget
  readonly #slotRule: ShareRule
  readonly #byteRule: ShareRule
  readonly #clock: Clock
  readonly #quotas: CallQuotas
  readonly #teams = new Accounts<TeamAccount>()

  constructor(options: {
    slots: ByteBudget
    bytes: ByteBudget
    seats: number
    shares: Shares
    clock: Clock
    quotas: CallQuotas
  }) {
    const { slots, bytes, seats, shares } = options
    this.#slots = slots
    this.#bytes = bytes
    this.#clock = options.clock
    this.#quotas = options.quotas
    this.#slotRule = new ShareRule(slots, { shares, seats })
    this.#byteRule = new ShareRule(bytes, { shares, seats: Math.floor(bytes.total * BYTE_SEATS_SHARE) })
  }

  team(key: string): TeamAccount | undefined {
    return this.#teams.get(key)
  }

  /** The queue's account, made when it has none; `queues` = those of its shard. */
  queue(queues: Accounts<QueueAccount>, key: string, teamKey: string): QueueAccount {
    const team =
      this.#teams.get(teamKey) ??
      this.#teams.add({ key: teamKey, slots: 0, bytes: 0, busyQueues: 0, lastQueue: null, severalUntilMs: 0 })
    const known = queues.get(key)
    // A team that held nothing may have been forgotten and made anew.
    return known?.team === team ? known : queues.add({ key, team, slots: 0, bytes: 0 })
  }

  hold(queues: Accounts<QueueAccount>, queue: QueueAccount, bytes: number): void {
    const { team } = queue
    if (queue.slots === 0) {
      if (team.lastQueue !== null && team.lastQueue !== queue) this.#noteSeveral(team)
      team.busyQueues += 1
      team.lastQueue = queue
    }
    this.#teams.hold(team, bytes)
    queues.hold(queue, bytes)
  }

  release(queues: Accounts<QueueAccount>, queue: QueueAccount, bytes: number): void {
    const { team } = queue
    this.#teams.release(team, bytes)
    queues.release(queue, bytes)
    if (queue.slots > 0) return
    if (team.busyQueues > 1) this.#noteSeveral(team)
    team.busyQueues -= 1
  }

  /** How many more jobs of a team may run. */
  teamRoom(team: TeamAccount): number {
    const byQuota = this.#quotas.headroomOf(team.key, team.slots) ?? Number.POSITIVE_INFINITY
    const bySlots = this.#slotRule.teamRoom(team.slots)
    if (team.slots === 0) return Math.min(byQuota, this.#newcomerRoom(bySlots))
    return Math.min(byQuota, bySlots, jobsIn(this.#byteRule.teamRoom(team.bytes), team))
  }

  queueRoom(queue: QueueAccount): number {
    const isLone = queue.team.busyQueues <= 1 && queue.team.severalUntilMs <= this.#clock.monotonicMs()
    const [slotRule, byteRule] = [this.#slotRule, this.#byteRule]
    const bySlots = isLone ? slotRule.loneQueueRoom(queue.slots) : slotRule.queueRoom(queue.slots)
    if (queue.slots === 0) return this.#newcomerRoom(bySlots)
    const bytes = isLone ? byteRule.loneQueueRoom(queue.bytes) : byteRule.queueRoom(queue.bytes)
    return Math.min(bySlots, jobsIn(bytes, queue))
  }

  /** How many more jobs of a queue may run, for its team's sake too. */
  workRoom(queue: QueueAccount): number {
    return Math.min(this.teamRoom(queue.team), this.queueRoom(queue))
  }

  /** What a claim for so many slots, at that cost of bytes, may take of whom. */
  rooms(queues: Accounts<QueueAccount>, slots: number, cost: number): Rooms {
    // Whoever holds more bytes than all together does not exist.
    const isPlenty = this.#byteRule.queueRoom(this.#bytes.held) >= cost
    const byQuota = this.#quotas.newcomerHeadroom()
    const named = this.#quotas.teamsWithQuota()
    const isBounded = byQuota !== null || named.length > 0
    const isForTeams = !isBounded && isPlenty && this.#slotRule.teamRoom(this.#teams.largest) >= slots
    const isForQueues = isPlenty && this.#slotRule.queueRoom(queues.largest) >= slots
    return {
      otherTeamsHeadroom: Math.min(slots, byQuota ?? slots, this.#newcomerRoom(this.#slotRule.teamRoom(0))),
      otherQueuesHeadroom: Math.min(slots, this.#newcomerRoom(this.#slotRule.queueRoom(0))),
      teamHeadroom: isForTeams ? NO_ROOMS : this.#teamHeadroom(slots, named),
      queueHeadroom: isForQueues ? NO_ROOMS : queues.rooms(slots, (queue) => this.queueRoom(queue)),
    }
  }

  /** Those of teams that hold something, and those that a quota gives the others. */
  #teamHeadroom(slots: number, named: readonly string[]): ReadonlyMap<string, number> {
    const rooms = this.#teams.rooms(slots, (team) => this.teamRoom(team))
    for (const key of named) {
      if (rooms.size >= HEADROOM_ENTRIES_MAX) break
      if ((this.#teams.get(key)?.slots ?? 0) > 0) continue
      const room = this.#quotas.headroomOf(key, 0)
      if (room !== null) rooms.set(key, Math.min(slots, room))
    }
    return rooms
  }

  /** Who holds nothing has room for one while anything is free. */
  #newcomerRoom(room: number): number {
    return this.#slots.free === 0 ? 0 : Math.max(1, room)
  }

  #noteSeveral(team: TeamAccount): void {
    team.severalUntilMs = this.#clock.monotonicMs() + SEVERAL_MS
  }
}

/** How many more jobs, as large as those that are held. */
function jobsIn(bytes: number, { slots, bytes: held }: Account): number {
  return held === 0 ? CLAIM_BATCH_MAX : Math.floor((bytes * slots) / held)
}
