import { addTally, emptyTally, type Tally } from '../../../domain/statistics/tally.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { decodeEntry } from '../../base/layout/statistics/statistics-log.ts'
import { changeTallies, openField, type OpenTally, readOpen, readVersion } from './tally-store.ts'

/** One read answers at most this many entries of the log. */
const ENTRIES_READ_MAX = 200
/**
 * One step changes at most this many tallies, so that it does not hold up other steps. The first entry of a page always
 * fits.
 */
const TALLIES_CHANGED_MAX = 500

/**
 * Adds a page of the log of ended jobs to the open tallies. Several executors may do it at once: one of them wins, and
 * the work of the others is dropped. Throws StoreUnavailableError.
 *
 * @returns `more` when the log was not read to its end
 */
export async function foldPage(engine: Engine, keys: ShardKeys): Promise<'done' | 'more' | 'taken'> {
  // The version is read before the log: a fold in between that cuts the log has given it another version.
  const version = await readVersion(engine, keys)
  const log = await engine.runner.read((redis) =>
    redis.lrange(keys.statisticsLog, '0', String(ENTRIES_READ_MAX - 1)),
  )
  if (log.length === 0) return 'done'
  const { sums, entries, damaged } = sumUp(log)
  if (damaged > 0) {
    engine.logger.warn('Entries of the log of ended jobs are damaged; statistics lack these jobs', {
      shard: keys.shard,
      entries: damaged,
    })
  }
  await addOpen(engine, keys, sums)
  const open = [...sums.values()]
  if (!(await changeTallies(engine, keys, { version, entries, open }))) return 'taken'
  return entries < log.length || log.length === ENTRIES_READ_MAX ? 'more' : 'done'
}

type Sums = Map<string, OpenTally>

/** Sums up as many entries as one step may take. */
function sumUp(log: readonly string[]): { sums: Sums; entries: number; damaged: number } {
  const sums: Sums = new Map()
  let [entries, damaged] = [0, 0]
  for (const text of log) {
    const entry = readable(text)
    if (entry === null) damaged += 1
    else {
      if (entries > 0 && sums.size + entry.tallies.size > TALLIES_CHANGED_MAX) break
      for (const [owner, tally] of entry.tallies) addTally(sumOf(sums, entry.minute, owner), tally, 'max')
    }
    entries += 1
  }
  return { sums, entries, damaged }
}

/** null = the entry is damaged, or our own code throws over it. The statistics of all others go on. */
function readable(text: string): ReturnType<typeof decodeEntry> {
  try {
    return decodeEntry(text)
  } catch {
    return null
  }
}

function sumOf(sums: Sums, minute: number, owner: string): Tally {
  const field = openField(minute, owner)
  const known = sums.get(field) ?? { minute, owner, tally: emptyTally() }
  sums.set(field, known)
  return known.tally
}

/** Adds the tallies that are open already. */
async function addOpen(engine: Engine, keys: ShardKeys, sums: Sums): Promise<void> {
  const before = await readOpen(engine, keys, [...sums.keys()])
  ;[...sums.values()].forEach(({ tally }, i) => addTally(tally, before[i] as Tally, 'max'))
}
