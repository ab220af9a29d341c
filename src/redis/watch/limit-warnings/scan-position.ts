import { SCAN_FIELD } from './standing-warnings.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

export const TAKE_SCAN = step('take_scan', import.meta.url, {
  keys: ['limitWarnings', 'failingQueues'],
  args: ['field', 'seen', 'next', 'forgetBeforeMs'],
})

/** Where the next scan goes on, so that a scan may be short and still leaves nothing out for ever. */
export interface ScanPosition {
  /** The local id of the last queue with calls in flight that was scanned. */
  readonly inFlight: number
  /** The local id of the last queue with failures that was scanned. */
  readonly failing: number
  /** How many queues of `retentionDue` were scanned. */
  readonly expiring: number
  /** The cursor of HSCAN over the standing warnings. */
  readonly standing: string
  /** The last team that was scanned; '' = start with the first. */
  readonly team: string
}

const START: ScanPosition = Object.freeze({ inFlight: 0, failing: 0, expiring: 0, standing: '0', team: '' })

/** The last scan of a shard. */
export interface LastScan {
  /** The minute of the scan, counted since 1970. */
  readonly minute: number
  readonly position: ScanPosition
  /** The text of it in Redis. */
  readonly text: string
}

export async function lastScan(engine: Engine, keys: ShardKeys): Promise<LastScan> {
  const text = (await engine.runner.read((redis) => redis.hget(keys.limitWarnings, SCAN_FIELD))) ?? ''
  const [, minute, inFlight, failing, expiring, standing, team] =
    /^(\d+) (\d+) (\d+) (\d+) (\d+) (\S*)$/.exec(text) ?? []
  if (team === undefined) return { minute: 0, position: START, text }
  const position = {
    inFlight: Number(inFlight),
    failing: Number(failing),
    expiring: Number(expiring),
    standing: standing ?? '0',
    team,
  }
  return { minute: Number(minute), position, text }
}

/** Tells whether a scan is due. Clocks that differ a little do not make it due twice; one that was set back does. */
export function isScanDue(last: LastScan, minute: number): boolean {
  return minute > last.minute || minute < last.minute - 1
}

/** false = another executor has taken the scan. */
export async function takeScan(
  engine: Engine,
  keys: ShardKeys,
  {
    last,
    minute,
    position,
    forgetBeforeMs,
  }: { last: LastScan; minute: number; position: ScanPosition; forgetBeforeMs: number },
): Promise<boolean> {
  const { inFlight, failing, expiring, standing, team } = position
  const next = [minute, inFlight, failing, expiring, standing, team].join(' ')
  const taken = await engine.runner.run(
    TAKE_SCAN.with({ keys, field: SCAN_FIELD, seen: last.text, next, forgetBeforeMs }),
  )
  return taken === 1
}
