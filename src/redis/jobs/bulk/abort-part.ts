import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import type { BulkPart } from '../../base/layout/bulk-record.ts'
import { movedBy } from './bulk-page.ts'
import type { BulkRef } from './records/bulk-steps.ts'
import { MOVE_PART } from '../mending/pages/page-steps.ts'

const RESEND_MS = 2_000

/**
 * Ends a part unless a page was done since it was read. Also removes from the list what has no part any more, or a part
 * that has ended.
 */
export async function abortPart(
  engine: Engine,
  ref: BulkRef,
  { shard, part }: { readonly shard: number; readonly part: BulkPart | null },
): Promise<void> {
  const version = part?.version ?? ''
  const move = movedBy(shardKeys(engine, shard), {
    ref,
    version,
    nonce: `abort.${version}`,
    place: part?.place ?? '',
    state: 'aborted',
    isNamed: false,
    perJobMs: 0,
    parts: 1,
    misfits: [],
  })
  await engine.runner.run(MOVE_PART.with(move), RESEND_MS)
}
