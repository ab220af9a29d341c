import { isBulkEnded } from '../../domain/bulk/bulk.ts'
import { shardKeys, type Engine } from '../client/engine.ts'
import { abortPart } from './pages/abort-part.ts'
import { changeBulk, dropBulk, readBulk, readPart, readParts, sumOf } from './records/bulk-records.ts'
import { BULK_KEEP_SECONDS, type BulkRef, homeOfBulks, partMember, PUT_PART } from './records/bulk-steps.ts'

/** A bulk is looked at this often while its parts run: its last part ends it, unless the executor died just then. */
const LOOK_MS = 2_000
const RESEND_MS = 2_000

/**
 * Makes the parts of a bulk, and ends it when all of them have ended. Each write may be repeated, and several executors at
 * once do no harm.
 */
export async function tendBulk(engine: Engine, ref: BulkRef): Promise<void> {
  const former = await readBulk(engine, ref)
  if (former === null) return dropBulk(engine, ref)
  if (isBulkEnded(former.state)) {
    await changeBulk(engine, ref, { former, change: {}, dueMs: null })
    return
  }
  const nowMs = engine.runner.redisNowMs(homeOfBulks(engine, ref.team).shard)
  if (former.state === 'starting') {
    for (const shard of former.shards) await putPart(engine, ref, { ids: former.ids, shard })
    const change = { state: 'running', startedAtMs: nowMs, ids: [] } as const
    await changeBulk(engine, ref, { former, change, dueMs: nowMs + LOOK_MS })
    return
  }
  if (former.state === 'aborting') {
    for (const shard of former.shards)
      await abortPart(engine, ref, { shard, part: await readPart(engine, shard, ref) })
  }
  const parts = await readParts(engine, ref, former.shards)
  if (parts.some(({ state }) => state === 'running')) {
    await changeBulk(engine, ref, { former, change: {}, dueMs: nowMs + LOOK_MS })
    return
  }
  const counts = sumOf(parts)
  const change = {
    ...(former.state === 'aborting'
      ? ({ state: 'aborted' } as const)
      : ({
          state: 'done',
          matched: counts.done + counts.skipped + counts.failed,
          isAtLeast: false,
        } as const)),
    ...{ endedAtMs: nowMs, counts },
  }
  await changeBulk(engine, ref, { former, change, dueMs: null })
}

async function putPart(
  engine: Engine,
  ref: BulkRef,
  { ids, shard }: { readonly ids: readonly number[]; readonly shard: number },
): Promise<void> {
  const keys = shardKeys(engine, shard)
  const member = partMember(ref)
  const own = ids.filter((id) => engine.jobIds.shardOf(id) === shard)
  await engine.runner.run(
    PUT_PART.with({
      ...{ keys, member, part: keys.bulkPart(member), dueMs: engine.runner.redisNowMs(shard) },
      ...{ ids: own.length === 0 ? '' : JSON.stringify(own), keepSeconds: BULK_KEEP_SECONDS },
    }),
    RESEND_MS,
  )
}
