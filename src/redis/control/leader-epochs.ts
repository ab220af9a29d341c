import { StoreUnavailableError } from '../../domain/errors.ts'
import { STORE_DEADLINE_MS } from '../../domain/limits.ts'
import { pause } from '../../domain/pause.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { EngineFacts, LeaderEpochs, IdFloor } from '../../ports/settings.ts'
import type { Engine } from '../base/engine/engine.ts'
import { openInstallation } from '../base/installation/installation.ts'
import { step } from '../base/engine/step.ts'
import { META } from '../base/layout/fields.ts'
import {
  META_KEY,
  NAMESPACES_KEY,
  OWN_ADDRESSES_KEY,
  SECRETS_KEY,
  TEAMS_KEY,
  TOKENS_KEY,
  WINDOWS_KEY,
} from '../base/layout/keys.ts'
import { putSetting } from './compiler/put-setting.ts'
import type { SecretBox } from '../base/secret-box.ts'
import { createSettingsCompiler } from './compiler/settings-compiler.ts'

export const TAKE_EPOCH = step('take_epoch', import.meta.url, {
  keys: ['installation'],
  args: ['highestEpoch'],
})

export const BEGIN_EPOCH = step('begin_epoch', import.meta.url, {
  keys: ['leaderEpoch', 'jobBlock', 'queueNumber', 'fencingToken'],
  args: ['epoch', 'jobBlock', 'queue', 'token'],
})

const COMPILED_KEYS = [TEAMS_KEY, TOKENS_KEY, WINDOWS_KEY, SECRETS_KEY, OWN_ADDRESSES_KEY, NAMESPACES_KEY]

/**
 * The floor lies between one and two of these steps above the ids in use. A step lasts for days even under load, so a
 * controller that persists the floor once per step is never behind, and rarely writes.
 */
const FLOOR_STEP: IdFloor = { jobBlock: 2 ** 20, queue: 2 ** 20, token: 2 ** 30 }
/** More than a shard gives out in a second: what an old copy may lack beyond a step. */
const GIVEN_PER_SECOND_MAX: IdFloor = { jobBlock: 200, queue: 10, token: 50_000 }
const LEADER_POLL_MS = 500
/** Below every epoch: changes none. */
const NO_EPOCH = -1
/** Changes no counter. */
const NO_FLOOR: IdFloor = { jobBlock: -1, queue: -1, token: -1 }

export function createLeaderEpochs(engine: Engine, box: SecretBox): LeaderEpochs {
  return {
    facts: async () => (await readFacts(engine)).facts,
    begin: async (earlier = null) => {
      const { facts: now, highestEpoch } = await readFacts(engine)
      // The same data continues from its own counters; other or older data must not hand out ids again.
      const isOther =
        earlier !== null && (earlier.installation !== now.installation || earlier.epoch > now.epoch)
      const { runner } = engine
      const highest = Math.max(highestEpoch, earlier?.epoch ?? 0)
      const taken = TAKE_EPOCH.with({ installation: META_KEY, highestEpoch: highest })
      const epoch = Number(await runner.run(taken, STORE_DEADLINE_MS))
      const floor = isOther ? earlier.idFloor : NO_FLOOR
      // Every shard knows the epoch before its leader writes anything. A leader that dies half way has written nothing,
      // and in the shards it did not reach its predecessor's epoch stays valid.
      await Promise.all([
        ...engine.shards.map((keys) =>
          runner.run(BEGIN_EPOCH.with({ keys, epoch, ...floor }), STORE_DEADLINE_MS),
        ),
        ...COMPILED_KEYS.map((hash) => putSetting(engine, { hash, epoch, field: '', text: '' })),
      ])
      const { facts } = await readFacts(engine)
      return { facts, compiler: createSettingsCompiler({ engine, box, epoch }) }
    },
  }
}

/**
 * Raises the counters of ids above all that were given out after this data was copied, as a leader does after a loss, but
 * begins no epoch. @param ageMs how long ago that was
 */
export async function raiseCounters(engine: Engine, ageMs: number): Promise<void> {
  const { idFloor } = (await readFacts(engine)).facts
  const raise = (name: keyof IdFloor) =>
    idFloor[name] + Math.ceil((ageMs / 1000) * GIVEN_PER_SECOND_MAX[name])
  const raised = {
    epoch: NO_EPOCH,
    jobBlock: raise('jobBlock'),
    queue: raise('queue'),
    token: raise('token'),
  }
  await Promise.all(
    engine.shards.map((keys) => engine.runner.run(BEGIN_EPOCH.with({ keys, ...raised }), STORE_DEADLINE_MS)),
  )
}

/**
 * Resolves when every shard knows a leader epoch, or the signal aborts. An API under a controller must wait for it: until
 * then a Redis that was wiped could hand out ids that it gave before.
 */
export async function untilLed(
  engine: Engine,
  { clock, signal }: { clock: Pick<Clock, 'after'>; signal: AbortSignal },
): Promise<void> {
  for (let isLogged = false; !signal.aborted; isLogged = true) {
    if (await isLed(engine)) return
    if (!isLogged) engine.logger.info('Waiting for the controller: no leader epoch in this engine yet')
    await pause(clock, LEADER_POLL_MS, signal)
  }
}

/** A Redis that is away counts as not led yet. */
async function isLed(engine: Engine): Promise<boolean> {
  try {
    const epochs = await engine.runner.read((redis) =>
      Promise.all(engine.shards.map((keys) => redis.get(keys.leaderEpoch))),
    )
    return epochs.every((epoch) => epoch !== null)
  } catch (error) {
    if (error instanceof StoreUnavailableError) return false
    throw error
  }
}

interface ReadFacts {
  /** Facts with the lowest epoch of all shards: one shard that is an older copy makes the whole data an older copy. */
  readonly facts: EngineFacts
  readonly highestEpoch: number
}

async function readFacts(engine: Engine): Promise<ReadFacts> {
  const [meta, shards] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hmget(META_KEY, META.installation, META.epoch),
      Promise.all(
        engine.shards.map((keys) =>
          Promise.all([
            redis.get(keys.leaderEpoch),
            redis.get(keys.jobBlock),
            redis.get(keys.queueNumber),
            redis.get(keys.fencingToken),
          ]),
        ),
      ),
    ]),
  )
  const [installation, epoch] = meta
  if (typeof installation !== 'string') {
    // Redis was emptied: from now on it holds another installation, with an id of its own.
    await engine.runner.read((redis) => openInstallation(redis, engine.shards.length))
    return readFacts(engine)
  }
  const counted = (at: 0 | 1 | 2 | 3) => shards.map((counters) => Number(counters[at] ?? 0))
  const floor = (at: 1 | 2 | 3, step: number) => floorAbove(Math.max(...counted(at)), step)
  const epochs = [Number(epoch ?? 0), ...counted(0)]
  return {
    facts: {
      installation,
      epoch: Math.min(...epochs),
      idFloor: {
        jobBlock: floor(1, FLOOR_STEP.jobBlock),
        queue: floor(2, FLOOR_STEP.queue),
        token: floor(3, FLOOR_STEP.token),
      },
    },
    highestEpoch: Math.max(...epochs),
  }
}

function floorAbove(given: number, step: number): number {
  return (Math.floor(given / step) + 2) * step
}
