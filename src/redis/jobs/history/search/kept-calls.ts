import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import type { CallRecord } from '../../../../domain/jobs/job.ts'
import { ATTEMPTS_PER_CHAIN } from '../../../../domain/jobs/job-ids.ts'
import { unlessDamaged } from '../../../ledger/chain-reader.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'

/** At most this many call records, of up to 32 KiB each, are read together. */
const READ_TOGETHER = 64

/**
 * Reads the call records of chains, as far as a search for a text needs them, because nothing else keeps answers, and
 * the payloads of finished chains. Answers a reader of the records by the root of their chain.
 */
export async function keptCalls(
  engine: Engine,
  queue: KnownQueue,
  { filter, onRead }: { readonly filter: JobFilter; readonly onRead: (bytes: number) => void },
): Promise<(roots: readonly string[]) => Promise<ReadonlyMap<string, CallRecord[]>>> {
  if (filter.text === null) return async () => new Map()
  const { callRecords } = queue.keys.queue(queue.localId)
  // A queue has a bounded number of records.
  const kept = new Set(await engine.runner.read((redis) => redis.hkeys(callRecords)))
  return async (roots) => {
    const ids = roots.flatMap((root) => idsOf(engine, queue, root).filter((id) => kept.has(id)))
    const calls = new Map<string, CallRecord[]>()
    for (let at = 0; at < ids.length; at += READ_TOGETHER) {
      const page = ids.slice(at, at + READ_TOGETHER)
      const texts = await engine.runner.read((redis) => redis.hmget(callRecords, ...page))
      onRead(texts.reduce((sum, text) => sum + (text?.length ?? 0), 0))
      texts.forEach((text, i) => {
        const call = unlessDamaged(
          () => (text === null ? null : (JSON.parse(text) as CallRecord)),
          () => null,
        )
        const root = String(engine.jobIds.rootOf(Number(page[i])))
        if (call !== null) calls.set(root, [...(calls.get(root) ?? []), call])
      })
    }
    return calls
  }
}

function idsOf({ jobIds }: Engine, { keys }: KnownQueue, root: string): string[] {
  const seq = jobIds.seqOf(Number(root))
  return Array.from({ length: ATTEMPTS_PER_CHAIN }, (_, i) => String(jobIds.idOf(keys.shard, seq, i + 1)))
}
