import { StoreUnavailableError } from '../../domain/errors.ts'
import { STORE_DEADLINE_MS } from '../../domain/limits.ts'
import { pause } from '../../domain/pause.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { EngineFacts, LeaderEpochs, IdFloor } from '../../ports/settings.ts'
import type { Engine } from '../client/engine.ts'
import { openInstallation } from '../installation/installation.ts'
import { META_KEY, TEAMS_KEY, TOKENS_KEY } from '../layout/keys.ts'
import type { SecretBox } from './secret-box.ts'
import { createSettingsCompiler } from './settings-compiler.ts'

/**
 * How far the floor lies beyond the numbers given: one of these at least, two at most. Whoever writes the floor down
 * while the numbers pass one of them, days even under load, is never behind, and has little to write.
 */
const FLOOR_STEP: IdFloor = { jobBlock: 2 ** 20, queue: 2 ** 20, token: 2 ** 30 }
/** How often `untilLed` looks. */
const LOOK_MS = 500
/** Changes no counter. */
const NO_FLOOR: IdFloor = { jobBlock: -1, queue: -1, token: -1 }

export function createLeaderEpochs(engine: Engine, box: SecretBox): LeaderEpochs {
  const facts = async () => (await look(engine)).facts
  return {
    facts,
    begin: async (earlier = null) => {
      const { facts: now, highestEpoch } = await look(engine)
      // The same data goes on from its own counters; other or older data must not give numbers again.
      const isOther =
        earlier !== null && (earlier.installation !== now.installation || earlier.epoch > now.epoch)
      const { runner } = engine
      const highest = Math.max(highestEpoch, earlier?.epoch ?? 0)
      const epoch = Number(
        await runner.run({ name: 'take_epoch', keys: [META_KEY], args: [highest] }, STORE_DEADLINE_MS),
      )
      const { jobBlock, queue, token } = isOther ? earlier.idFloor : NO_FLOOR
      // Everywhere the epoch is known before its leader writes anything. A leader that dies in between has written
      // nothing, and where it did not come its predecessor goes on as if it had not been.
      await Promise.all([
        ...engine.shards.map(({ leaderEpoch: key, jobBlock: seq, queueNumber: qseq, fencingToken: tok }) =>
          runner.run(
            { name: 'begin_epoch', keys: [key, seq, qseq, tok], args: [epoch, jobBlock, queue, token] },
            STORE_DEADLINE_MS,
          ),
        ),
        ...[TEAMS_KEY, TOKENS_KEY].map((key) =>
          runner.run({ name: 'put_setting', keys: [key], args: [epoch, '', ''] }, STORE_DEADLINE_MS),
        ),
      ])
      return { facts: await facts(), compiler: createSettingsCompiler({ engine, box, epoch }) }
    },
  }
}

/**
 * Resolves when a leader's epoch is known in every shard, or the signal aborts. Until then a Redis that was wiped could
 * give ids of before again: nobody who takes jobs in under a controller may begin sooner.
 */
export async function untilLed(
  engine: Engine,
  { clock, signal }: { clock: Pick<Clock, 'after'>; signal: AbortSignal },
): Promise<void> {
  for (let isTold = false; !signal.aborted; isTold = true) {
    if (await isLed(engine)) return
    if (!isTold) engine.logger.info('Waiting for the controller: none has led this engine yet')
    await pause(clock, LOOK_MS, signal)
  }
}

/** A Redis that does not answer is asked again. */
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

interface Look {
  /** With the lowest epoch of all: what is older in one place is not what it was. */
  readonly facts: EngineFacts
  readonly highestEpoch: number
}

async function look(engine: Engine): Promise<Look> {
  const [meta, shards] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hmget(META_KEY, 'installation', 'term'),
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
    // Emptied: what is there from now on is another installation, and known to be by its id.
    await engine.runner.read((redis) => openInstallation(redis, engine.shards.length))
    return look(engine)
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
