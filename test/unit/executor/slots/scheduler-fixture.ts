import type { OccupiedSlot, SlotGrant, SlotRequester } from '../../../../src/executor/slots/contender.ts'
import { forNewcomersOf } from '../../../../src/domain/shares/fair-share.ts'
import { reserveOf } from '../../../../src/executor/slots/fair-share.ts'
import { SlotScheduler } from '../../../../src/executor/slots/slot-scheduler.ts'
import { NO_CALL_QUOTAS, type CallQuotas } from '../../../../src/ports/quotas.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { claimedJob } from '../executor-fixture.ts'

const SHARES = { team: 0.9, queue: 0.8 }
export const MIB = 1024 * 1024

export interface TestRequester extends SlotRequester {
  readonly grants: SlotGrant[]
  /** The last grant. */
  readonly open: SlotGrant
}

export function createRequester(shard: number): TestRequester {
  const grants: SlotGrant[] = []
  return {
    shard,
    grants,
    granted: (grant) => grants.push(grant),
    get open() {
      const grant = grants.at(-1)
      if (grant === undefined) throw new Error('nothing was granted')
      return grant
    },
  }
}

export function setUpScheduler(
  change: { concurrency?: number; reserve?: number; bytes?: number; quotas?: CallQuotas } = {},
) {
  const clock = createFakeClock()
  const concurrency = change.concurrency ?? 50
  const newcomerSlots = forNewcomersOf(concurrency)
  const scheduler = new SlotScheduler({
    slots: concurrency + (change.reserve ?? reserveOf(concurrency, SHARES)),
    newcomerSlots,
    bytes: change.bytes ?? 1024 * MIB,
    shares: SHARES,
    clock,
    quotas: change.quotas ?? NO_CALL_QUOTAS,
  })
  return { clock, scheduler, total: concurrency + reserveOf(concurrency, SHARES) }
}

let ids = 0

export function jobsOf(team: string, count: number, change: { queue?: string; bytes?: number } = {}) {
  return Array.from({ length: count }, () => {
    ids += 1
    const { queue = '7', bytes = 1_000 } = change
    return claimedJob({
      jobId: ids,
      team,
      bytes,
      location: { queue, settingsHash: 'abcdefghijk', isLarge: false },
    })
  })
}

/** Most jobs of one queue that a grant allows. */
export function mostOf(grant: SlotGrant, team: string, queue: string): number {
  return Math.min(
    grant.slots,
    grant.teamHeadroom.get(team) ?? grant.otherTeamsHeadroom,
    grant.queueHeadroom.get(queue) ?? grant.otherQueuesHeadroom,
  )
}

/** Claims for each queue in turn until no more jobs are allowed. Answers the occupied slots of each queue. */
export function fill(
  scheduler: SlotScheduler,
  requester: TestRequester,
  queues: ReadonlyArray<readonly [team: string, queue: string]>,
) {
  const occupied: OccupiedSlot[][] = queues.map(() => [])
  for (let idle = 0, turn = 0; idle < 2 * queues.length; turn += 1) {
    const at = turn % queues.length
    const [team, queue] = queues[at] ?? ['', '']
    const before = requester.grants.length
    scheduler.request(requester)
    if (requester.grants.length === before) break
    const count = mostOf(requester.open, team, queue)
    idle = count === 0 ? idle + 1 : 0
    occupied[at]?.push(
      ...scheduler.bind(requester.open, { work: jobsOf(team, count, { queue }), bytesWanted: null }),
    )
  }
  return occupied
}

/** Requests slots; answers the grant. */
export function reopen(scheduler: SlotScheduler, requester: TestRequester): SlotGrant {
  scheduler.request(requester)
  return requester.open
}
