import { isDeepStrictEqual } from 'node:util'
import type { CronSettings } from '../../domain/crons/cron.ts'
import type { Cron, CronEditor, CronStore } from '../../ports/crons.ts'
import type { Queue, QueueEditor, QueueStore } from '../../ports/queues.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import {
  nameOfKeyedCron,
  nameOfNewCron,
  NAME_TRIES_MAX,
  NO_FREE_NAME,
} from '../../resources/manifests/cron-manifest.ts'
import { StoreUnavailableError } from '../../domain/errors.ts'
import { createMutex, type Mutex } from '../../domain/mutex.ts'

/**
 * One edit at a time, so that none is lost. An edit that waited while Redis did not answer has no time left to find
 * that out again.
 */
export function createEditMutex(): Mutex {
  return createMutex((error) => error instanceof StoreUnavailableError)
}

/** Without resources, an edit goes to the engine alone. */
export function createEngineEditor(queues: QueueStore): QueueEditor {
  const mutex = createEditMutex()

  async function edit(team: string, queueId: number, change: Partial<QueueSettings>): Promise<Queue | null> {
    const queue = await queues.get(team, queueId)
    if (queue === null) return null
    await queues.apply(team, queue.name, { ...queue.settings, ...change })
    return queues.get(team, queueId)
  }

  return {
    edit: (team, queueId, change) => mutex(() => edit(team, queueId, change)),
    // Otherwise an edit under way would make it again.
    remove: (team, queueId) =>
      mutex(async () => {
        const queue = await queues.get(team, queueId)
        return queue === null ? 'not_found' : queues.remove(team, queue.name)
      }),
  }
}

/**
 * As `createEngineEditor`, for crons.
 * @param newSuffix 8 random hex digits, another each time
 */
export function createEngineCronEditor(crons: CronStore, newSuffix: () => string): CronEditor {
  const mutex = createEditMutex()
  return {
    create: (team, settings, key) =>
      mutex(() =>
        makeCron(crons, { team, settings, key }, newSuffix, async (name) => {
          await crons.apply(team, name, settings)
          return crons.getByName(team, name)
        }),
      ),
    edit: (team, cronId, change) =>
      mutex(async () => {
        const cron = await crons.get(team, cronId)
        if (cron === null) return null
        await crons.apply(team, cron.name, { ...cron.settings, ...change })
        return crons.get(team, cronId)
      }),
    // Otherwise an edit under way would make it again.
    remove: (team, cronId) =>
      mutex(async () => {
        const cron = await crons.get(team, cronId)
        return cron === null ? 'not_found' : crons.remove(team, cron.name)
      }),
  }
}

interface WantedCron {
  readonly team: string
  readonly settings: CronSettings
  readonly key: string | null
}

/**
 * Makes a cron under a name of its own: one drawn at random, or the one that its key leads to.
 * @param write puts it in force under the name; null = it was removed at once
 */
export async function makeCron(
  crons: Pick<CronStore, 'getByName'>,
  { team, settings, key }: WantedCron,
  newSuffix: () => string,
  write: (name: string) => Promise<Cron | null>,
): Promise<Cron | 'key_used'> {
  if (key === null) {
    const newName = () => nameOfNewCron(settings.displayName, newSuffix())
    return newCron(await write(await freeCronName(crons, team, newName)))
  }
  const name = nameOfKeyedCron(key)
  const former = await crons.getByName(team, name)
  if (former === null) return newCron(await write(name))
  return isDeepStrictEqual({ ...former.settings }, { ...settings }) ? former : 'key_used'
}

/** A name that no cron of the team has: an edit under one that is taken would change that cron. */
async function freeCronName(
  crons: Pick<CronStore, 'getByName'>,
  team: string,
  newName: () => string,
): Promise<string> {
  for (let tries = 0; tries < NAME_TRIES_MAX; tries += 1) {
    const name = newName()
    if ((await crons.getByName(team, name)) === null) return name
  }
  throw new Error(NO_FREE_NAME)
}

/** Removed within the moment since it was made: nobody knew it yet. */
function newCron(cron: Cron | null): Cron {
  if (cron === null) throw new Error('a new cron was removed at once')
  return cron
}
