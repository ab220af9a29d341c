import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { withKeptHeaders } from '../../domain/access/masking.ts'
import type { CronSettings } from '../../domain/crons/cron.ts'
import type { Cron, CronEditor, CronStore } from '../../ports/crons.ts'
import {
  nameOfKeyedCron,
  nameOfNewCron,
  NAME_TRIES_MAX,
  NO_FREE_NAME,
} from '../../resources/manifests/cron-manifest.ts'
import { createEditMutex } from './queue-editor.ts'

/** Where the settings of crons are kept. */
export interface CronKeeper {
  /** Before an edit: puts in force what others have changed where the settings are kept. */
  sync?(): Promise<void>
  /** Writes `current` with the change, of a new cron too. */
  write(team: string, name: string, edit: CronChange): Promise<unknown>
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
}

interface CronChange {
  readonly current: CronSettings
  readonly change: Partial<CronSettings>
}

/** @param keeper the engine itself when there are no manifests */
export function createCronEditor(
  crons: CronStore,
  newSuffix: () => string,
  keeper: CronKeeper = {
    write: (team, name, { current, change }) => crons.apply(team, name, { ...current, ...change }),
    remove: (team, name) => crons.remove(team, name),
  },
): CronEditor {
  const mutex = createEditMutex()

  async function write(team: string, name: string, edit: CronChange): Promise<Cron | null> {
    await keeper.write(team, name, edit)
    return crons.getByName(team, name)
  }

  async function create(
    team: string,
    settings: CronSettings,
    key: string | null,
  ): Promise<Cron | 'key_used'> {
    const name =
      key === null
        ? await freeName(crons, team, () => nameOfNewCron(settings.displayName, newSuffix()))
        : nameOfKeyedCron(key)
    const former = key === null ? null : await crons.getByName(team, name)
    if (former !== null)
      return isDeepStrictEqual({ ...former.settings }, { ...settings }) ? former : 'key_used'
    const cron = await write(team, name, { current: settings, change: {} })
    // Removed in the moment since it was made, when nobody could know it.
    if (cron === null) throw new Error('a new cron was removed at once')
    return cron
  }

  return {
    create: (team, settings, key) => mutex(() => create(team, settings, key)),
    edit: (team, cronId, change, check) =>
      mutex(async () => {
        await keeper.sync?.()
        const cron = await crons.get(team, cronId)
        if (cron === null) return null
        check?.(cron.settings)
        const { settings: current } = cron
        return write(team, cron.name, { current, change: withKeptHeaders(change, current) })
      }),
    remove: (team, cronId) =>
      mutex(async () => {
        const cron = await crons.get(team, cronId)
        return cron === null ? 'not_found' : keeper.remove(team, cron.name)
      }),
  }
}

/** A name that no cron of the team has: a write under a name in use would change that cron. */
async function freeName(crons: CronStore, team: string, newName: () => string): Promise<string> {
  for (let tries = 0; tries < NAME_TRIES_MAX; tries += 1) {
    const name = newName()
    if ((await crons.getByName(team, name)) === null) return name
  }
  throw new Error(NO_FREE_NAME)
}

/** 8 random hex digits, which tell apart resources whose own names need not be unique. */
export function newNameSuffix(): string {
  return randomBytes(4).toString('hex')
}
