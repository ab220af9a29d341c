import type { Engine } from '../client/engine.ts'
import { indexPlace, type ShardKeys } from '../layout/keys.ts'

/** A job in flight, as its executor's `in:` hash tells of it. */
export interface HeldEntry {
  readonly id: string
  /** Local queue id; '' when nothing tells it. */
  readonly queue: string
  /** Of a value that is damaged the value itself, by which `reap` knows it again. */
  readonly token: string
}

/**
 * The entries of `in:` that are of jobs. Where a value is damaged the index tells the queue, so that its slot is freed.
 *
 * @param flat fields and values in turn
 */
export async function heldEntries(
  engine: Engine,
  keys: ShardKeys,
  flat: readonly string[],
): Promise<HeldEntry[]> {
  const entries: HeldEntry[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const [id = '', value = ''] = [flat[i], flat[i + 1]]
    // The notes of the last claim and the last finish.
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
