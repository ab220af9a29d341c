import { CLAIM_BATCH_BYTES_MAX, CLAIM_BATCH_MAX } from '../../../src/domain/limits.ts'
import type { ClaimGrant } from '../../../src/ports/jobs.ts'

/** A grant of `slots` slots with headroom for every team and queue, unless the test changes it. */
export function grantOf(slots: number, change: Partial<ClaimGrant> = {}): ClaimGrant {
  return {
    slots,
    bytes: CLAIM_BATCH_BYTES_MAX,
    teamHeadroom: new Map(),
    otherTeamsHeadroom: CLAIM_BATCH_MAX,
    queueHeadroom: new Map(),
    otherQueuesHeadroom: CLAIM_BATCH_MAX,
    ...change,
  }
}
