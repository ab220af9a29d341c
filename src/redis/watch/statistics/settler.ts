import { emptyTally, type Tally } from '../../../domain/statistics/tally.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { decodeOpen } from '../../base/layout/statistics/statistics-cell.ts'
import { changeTallies, type OpenTally, readVersion, sound, splitOpenField } from './tally-store.ts'

const PAGE = 250
/** One call settles at most this many pages; the next minute goes on. */
const PAGES_MAX = 1_000
/**
 * A tally stays open while the log may still hold jobs of its minute. A tally of a minute to come is over too, as the
 * clock was set back.
 */
const OPEN_MINUTES = 2

/**
 * Moves the open tallies of minutes that are over into cells. Jobs that are logged later begin a second tally of
 * their minute, and a reader adds both.
 */
export async function settleMinutes(engine: Engine, keys: ShardKeys, minute: number): Promise<void> {
  let cursor = '0'
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const version = await readVersion(engine, keys)
    const [next, flat] = await engine.runner.read((redis) =>
      redis.hscan(keys.openTallies, cursor, 'COUNT', PAGE),
    )
    const settled = new Map<string, OpenTally>()
    for (let i = 0; i < flat.length; i += 2) {
      const [field = '', text = ''] = [flat[i], flat[i + 1]]
      const named = splitOpenField(field)
      // A damaged tally is lost, and makes room.
      if (named !== null && Math.abs(named.minute - minute) >= OPEN_MINUTES)
        settled.set(field, { ...named, tally: tallyIn(engine, field, text) })
    }
    if (settled.size > 0) {
      const isOurs = await changeTallies(engine, keys, { version, settled: [...settled.values()] })
      // The same page is read again for what another executor changed meanwhile.
      if (!isOurs) continue
    }
    cursor = next
    if (cursor === '0') return
  }
}

function tallyIn(engine: Engine, field: string, text: string): Tally {
  return sound(engine, field, (isAside) => (isAside ? null : decodeOpen(text))) ?? emptyTally()
}
