import { reasonOf } from '../../../domain/errors.ts'
import { STATISTICS_DAYS } from '../../../domain/limits.ts'
import { MINUTE_MS } from '../../../domain/statistics/point.ts'
import { emptyTally, type Tally } from '../../../domain/statistics/tally.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { STATISTICS } from '../../base/layout/fields.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { decodeOpen, encodeCell, encodeOpen } from '../../base/layout/statistics/statistics-cell.ts'

export const FOLD = step('fold', import.meta.url, {
  keys: ['statistics', 'statisticsLog', 'openTallies', 'sampledQueues'],
  args: ['version', 'entries', 'sampledMinute', 'since', 'cellsMax', 'expiresAt'],
  rows: {
    open: { args: ['field', 'text'] },
    settled: { keys: ['settledTallies'], args: ['field', 'text'] },
    watched: { args: ['localId', 'isWatched'] },
  },
})

const KEPT_MINUTES = STATISTICS_DAYS * 1440
/**
 * A queue or team has at most this many cells. A minute has a second cell when a fold came late, and minutes come twice
 * when the clock is set.
 */
const CELLS_MAX = KEPT_MINUTES + 2_000

/** An open tally, with its minute and its owner. */
export interface OpenTally {
  readonly minute: number
  readonly owner: string
  readonly tally: Tally
}

/** How a fold changes the tallies. */
export interface TallyChange {
  /** The version of the statistics that the change was made from. */
  readonly version: string
  /** How many entries of the log `open` now contains. */
  readonly entries?: number
  /** The minute in which all queues have been counted; absent = not all were. */
  readonly sampledMinute?: number
  /** Tallies that replace what was there. */
  readonly open?: readonly OpenTally[]
  /** Tallies of minutes that are over. */
  readonly settled?: readonly OpenTally[]
  /** By local id, whether a queue is to be counted in every minute. */
  readonly watched?: ReadonlyMap<string, boolean>
}

export function openField(minute: number, owner: string): string {
  return `${minute}.${owner}`
}

/** null = the field is damaged. */
export function splitOpenField(field: string): { minute: number; owner: string } | null {
  const [, minute, owner] = /^(\d{1,10})\.([qt].+)$/.exec(field) ?? []
  return minute === undefined || owner === undefined ? null : { minute: Number(minute), owner }
}

export async function readVersion(engine: Engine, keys: ShardKeys): Promise<string> {
  return (await engine.runner.read((redis) => redis.hget(keys.statistics, STATISTICS.version))) ?? '0'
}

/** A change is tried at most this many times while others change the tallies too. */
const TRIES_MAX = 5

/**
 * Changes open tallies of one minute, in steps that hold up no others. Throws StoreUnavailableError.
 *
 * @returns false when others changed the tallies all the time
 */
export async function editOpen(
  engine: Engine,
  keys: ShardKeys,
  {
    minute,
    edits,
    ...around
  }: Pick<TallyChange, 'sampledMinute' | 'watched'> & {
    readonly minute: number
    /** Edits of tallies by their owner. */
    readonly edits: ReadonlyMap<string, (tally: Tally) => void>
  },
): Promise<boolean> {
  const owners = [...edits.keys()]
  const fields = owners.map((owner) => openField(minute, owner))
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const version = await readVersion(engine, keys)
    const open = (await readOpen(engine, keys, fields)).map((tally, i): OpenTally => {
      const owner = owners[i] as string
      edits.get(owner)?.(tally)
      return { minute, owner, tally }
    })
    if (await changeTallies(engine, keys, { version, open, ...around })) return true
  }
  return false
}

/** Reads open tallies; one that is missing or damaged is empty. */
export async function readOpen(engine: Engine, keys: ShardKeys, fields: readonly string[]): Promise<Tally[]> {
  if (fields.length === 0) return []
  const texts = await engine.runner.read((redis) => redis.hmget(keys.openTallies, ...fields))
  return texts.map((text, i) => {
    if (text === null) return emptyTally()
    return sound(engine, fields[i] ?? '', (isAside) => (isAside ? null : decodeOpen(text))) ?? emptyTally()
  })
}

/** false = somebody else has changed the tallies since. Throws StoreUnavailableError. */
export async function changeTallies(engine: Engine, keys: ShardKeys, change: TallyChange): Promise<boolean> {
  const { version, entries = 0, sampledMinute } = change
  const { open = [], settled = [], watched = new Map() } = change
  const minuteNow = Math.floor(engine.runner.redisNowMs(keys.shard) / MINUTE_MS)
  const answer = await engine.runner.run(
    FOLD.with({
      keys,
      version,
      entries,
      sampledMinute: sampledMinute ?? '',
      since: minuteNow - KEPT_MINUTES,
      cellsMax: CELLS_MAX,
      // A queue that is idle for this long has no cells.
      expiresAt: (minuteNow + KEPT_MINUTES) * 60,
      open: open.map(({ minute, owner, tally }) => ({
        field: openField(minute, owner),
        text: sound(engine, owner, (isAside) => encodeOpen(isAside ? emptyTally() : tally)),
      })),
      settled: settled.map(({ minute, owner, tally }) => ({
        settledTallies: keys.settledTallies(owner),
        field: openField(minute, owner),
        text: sound(engine, owner, (isAside) => encodeCell(minute, isAside ? emptyTally() : tally)),
      })),
      watched: Array.from(watched, ([localId, isWatched]) => ({ localId, isWatched: isWatched ? 1 : 0 })),
    }),
  )
  return answer === 1
}

/**
 * Turns a tally into text or back. If our own code throws over it, what the tally counts is lost, because it must not
 * stop the statistics of all others in its shard.
 */
export function sound<T>(engine: Engine, owner: string, turn: (isAside: boolean) => T): T {
  try {
    return turn(false)
  } catch (error) {
    engine.metrics.setAside('statistics')
    engine.logger.error('Statistics of a minute are lost because of a defect', {
      owner,
      reason: reasonOf(error),
    })
    return turn(true)
  }
}
