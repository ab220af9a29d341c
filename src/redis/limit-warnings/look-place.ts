import { LOOK_FIELD } from './standing-warnings.ts'
import type { Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import type { ShardKeys } from '../layout/keys.ts'

export const TAKE_LOOK = step('take_look', import.meta.url, {
  keys: ['limitWarnings', 'failingQueues'],
  args: ['field', 'seen', 'next', 'forgetBeforeMs'],
})

/** Where the next look goes on, so that a look may be short and still leaves nothing out for ever. */
export interface LookPlace {
  /** Local id of the last queue with calls in flight that was looked at. */
  readonly inFlight: number
  /** Local id of the last queue with failures. */
  readonly failing: number
  /** Queues of `retentionDue` that were looked at. */
  readonly expiring: number
  /** Cursor of HSCAN over the standing warnings. */
  readonly standing: string
  /** The last team; '' = from the first. */
  readonly team: string
}

const START: LookPlace = Object.freeze({ inFlight: 0, failing: 0, expiring: 0, standing: '0', team: '' })

/** The last look of a shard. */
export interface LastLook {
  /** Minutes since 1970. */
  readonly minute: number
  readonly place: LookPlace
  /** As it stands in Redis. */
  readonly text: string
}

export async function lastLook(engine: Engine, keys: ShardKeys): Promise<LastLook> {
  const text = (await engine.runner.read((redis) => redis.hget(keys.limitWarnings, LOOK_FIELD))) ?? ''
  const [, minute, inFlight, failing, expiring, standing, team] =
    /^(\d+) (\d+) (\d+) (\d+) (\d+) (\S*)$/.exec(text) ?? []
  if (team === undefined) return { minute: 0, place: START, text }
  const place = {
    inFlight: Number(inFlight),
    failing: Number(failing),
    expiring: Number(expiring),
    standing: standing ?? '0',
    team,
  }
  return { minute: Number(minute), place, text }
}

/** Whether a look is due. Clocks that differ a little do not make it due twice; one that was set back does. */
export function isLookDue(last: LastLook, minute: number): boolean {
  return minute > last.minute || minute < last.minute - 1
}

/** False when another executor has taken it. */
export async function takeLook(
  engine: Engine,
  keys: ShardKeys,
  {
    last,
    minute,
    place,
    forgetBeforeMs,
  }: { last: LastLook; minute: number; place: LookPlace; forgetBeforeMs: number },
): Promise<boolean> {
  const { inFlight, failing, expiring, standing, team } = place
  const next = [minute, inFlight, failing, expiring, standing, team].join(' ')
  const taken = await engine.runner.run(
    TAKE_LOOK.with({ keys, field: LOOK_FIELD, seen: last.text, next, forgetBeforeMs }),
  )
  return taken === 1
}
