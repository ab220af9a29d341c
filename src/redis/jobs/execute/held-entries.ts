import type { Engine } from '../../base/engine/engine.ts'
import { indexPlace, type ShardKeys } from '../../base/layout/keys.ts'

/** A job in flight, by its entry in `heldJobs` of its executor. */
export interface HeldEntry {
  readonly id: string
  /** The local id of its queue; '' = it is unknown. */
  readonly queue: string
  /** The fencing token. In place of a damaged value it is the value itself, by which `reap` recognizes it. */
  readonly token: string
}

/**
 * Reads the jobs in `heldJobs`. The index names the queue of a damaged value, so that its slot is freed.
 *
 * @param flat field, value, field, value…
 */
export async function heldEntries(
  engine: Engine,
  keys: ShardKeys,
  flat: readonly string[],
): Promise<HeldEntry[]> {
  const entries: HeldEntry[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const [id = '', value = ''] = [flat[i], flat[i + 1]]
    // These fields are notes of the last claim and the last finish.
    if (id.startsWith('#')) continue
    const [, queue, token] = /^(\d+)\|(\d+)$/.exec(value) ?? []
    if (queue !== undefined && token !== undefined) entries.push({ id, queue, token })
    else entries.push({ id, queue: await queueInIndex(engine, keys, id), token: value })
  }
  return entries
}

async function queueInIndex(engine: Engine, keys: ShardKeys, id: string): Promise<string> {
  if (!/^\d{1,16}$/.test(id)) return ''
  const { block, field } = indexPlace(engine.jobIds.seqOf(Number(id)))
  return (await engine.runner.read((redis) => redis.hget(keys.jobIndex(block), field))) ?? ''
}
