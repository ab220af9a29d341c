import { isDeepStrictEqual } from 'node:util'
import type { CronSettings } from '../../domain/crons/cron.ts'
import {
  EditRefusedError,
  ResourceApiError,
  StorageFullError,
  StoreUnavailableError,
} from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { Cron, CronEditor, CronStore } from '../../ports/crons.ts'
import type { KubeObject, ResourceWriter } from '../../ports/kubernetes.ts'
import {
  nameOfKeyedCron,
  nameOfNewCron,
  NAME_TRIES_MAX,
  newCronSpec,
  NO_FREE_NAME,
} from '../../resources/manifests/cron-manifest.ts'
import { settingsOfCronSpec, specOfCronSettings } from '../../resources/cron-spec.ts'
import type { HttpCronSpec } from '../../resources/generated/kinds.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../../resources/queue-owner.ts'
import { answered, notWatched, refOf, untilTrue } from './edit-answer.ts'

interface HttpCron extends KubeObject {
  readonly spec: HttpCronSpec
}

export interface CronEditorParts {
  readonly crons: Pick<CronStore, 'get' | 'getByName' | 'apply' | 'remove'>
  readonly writer: Pick<ResourceWriter<HttpCron>, 'create' | 'patchSpec' | 'remove' | 'read'>
  /** Whether resources of this namespace are ours to write. */
  readonly isWatched: (namespace: string) => boolean
  /** 8 random hex digits, another each time. */
  readonly newSuffix: () => string
  readonly clock: Clock
}

/**
 * Edits go to the cron's HttpCron, which is asked for by its name: there may be too many of them to keep a copy. Throws
 * EditRefusedError with the API server's own words, ResourceApiError when that is away.
 */
export function createResourceCronEditor(parts: CronEditorParts): CronEditor {
  const { crons, writer, isWatched, clock } = parts
  return {
    create: async (team, settings, key) => {
      if (!isWatched(team)) throw notWatched('Crons', team)
      if (key !== null) return makeUnderKey(parts, { team, name: nameOfKeyedCron(key), settings })
      const made = await answered(clock, () => make(parts, team, settings))
      return inForceOrUndone(parts, made)
    },
    edit: async (team, cronId, change) => {
      const cron = await crons.get(team, cronId)
      if (cron === null) return null
      if (!isWatched(team)) throw notWatched('Crons', team)
      const settings = await answered(clock, () => patch(parts, cron, change))
      return settings === null ? null : afterEdit(parts, { ...cron, settings })
    },
    remove: async (team, cronId) => {
      const cron = await crons.get(team, cronId)
      if (cron === null) return 'not_found'
      const found = await answered(clock, () => writer.read(team, cron.name))
      // Its resource went by force: the engine still has the cron.
      if (found === null) return crons.remove(team, cron.name)
      await answered(clock, () => writer.remove(refOf(found)))
      await untilTrue(
        clock,
        async () => (await crons.get(team, cronId)) === null && (await isGone(parts, found)),
      )
      return 'removed'
    },
  }
}

/** Who asks for it next shall not find it on its way out. An API server that is away has taken the deletion. */
async function isGone({ writer }: CronEditorParts, { metadata }: HttpCron): Promise<boolean> {
  const now = await writer.read(metadata.namespace, metadata.name).catch(() => null)
  return now === null || now.metadata.uid !== metadata.uid
}

interface WantedCron {
  readonly team: string
  readonly name: string
  readonly settings: CronSettings
}

async function make(parts: CronEditorParts, team: string, settings: CronSettings): Promise<HttpCron> {
  for (let tries = 0; tries < NAME_TRIES_MAX; tries += 1) {
    const name = nameOfNewCron(settings.displayName, parts.newSuffix())
    // Asked first, so that a Redis that is away refuses the cron before there is a resource.
    if ((await parts.crons.getByName(team, name)) !== null) continue
    const made = await makeNamed(parts, { team, name, settings })
    if (made !== null) return made
  }
  throw new Error(NO_FREE_NAME)
}

/** null when there is a resource of that name. */
async function makeNamed(
  { writer }: CronEditorParts,
  { team, name, settings }: WantedCron,
): Promise<HttpCron | null> {
  const metadata = { name, namespace: team, labels: { [ORIGIN_LABEL]: API_ORIGIN } }
  try {
    return await writer.create({ metadata, spec: newCronSpec(settings) })
  } catch (error) {
    if (error instanceof ResourceApiError && error.fault === 'conflict') return null
    throw error
  }
}

/** The name tells whether the key was used before; the API server lets one of several requests at once make it. */
async function makeUnderKey(parts: CronEditorParts, wanted: WantedCron): Promise<Cron | 'key_used'> {
  const { crons, writer, clock } = parts
  const { team, name, settings } = wanted
  // As in `make`.
  await crons.getByName(team, name)
  const made = await answered(clock, () => makeNamed(parts, wanted))
  if (made !== null) return inForceOrUndone(parts, made)
  const former = await answered(clock, () => writer.read(team, name))
  if (former === null || former.metadata.deletionTimestamp !== undefined) {
    throw new EditRefusedError('The cron that was made under this key is being deleted.')
  }
  const isSame = isDeepStrictEqual({ ...settingsOfCronSpec(name, former.spec) }, { ...settings })
  return isSame ? inForce(parts, former) : 'key_used'
}

/**
 * The new cron once the engine has it. When Redis has gone away meanwhile, or has no room for it, the resource goes
 * too: the client is told to try again, and shall not have two crons then.
 */
async function inForceOrUndone(parts: CronEditorParts, made: HttpCron): Promise<Cron> {
  try {
    return await inForce(parts, made)
  } catch (error) {
    const isRefused = error instanceof StoreUnavailableError || error instanceof StorageFullError
    if (isRefused) await parts.writer.remove(refOf(made)).catch(() => undefined)
    throw error
  }
}

/** The controller puts a cron in force; where none leads just now, it is done from here, as the controller will find it. */
async function inForce({ crons, clock }: CronEditorParts, made: HttpCron): Promise<Cron> {
  const { namespace: team, name } = made.metadata
  let cron: Cron | null = null
  await untilTrue(clock, async () => (cron = await crons.getByName(team, name)) !== null)
  if (cron !== null) return cron
  await crons.apply(team, name, settingsOfCronSpec(name, made.spec))
  cron = await crons.getByName(team, name)
  if (cron === null) throw new EditRefusedError('The cron was deleted while it was made.')
  return cron
}

/** @returns the settings as the API server has them now; null when the cron is on its way out */
async function patch(
  { writer }: CronEditorParts,
  { team, name }: Cron,
  change: Partial<CronSettings>,
): Promise<CronSettings | null> {
  const found = await writer.read(team, name)
  if (found === null || found.metadata.deletionTimestamp !== undefined) return null
  const { spec } = await writer.patchSpec(refOf(found), { ...specOfCronSettings(change) }, null)
  return settingsOfCronSpec(name, spec)
}

/** The cron once the engine has it as written; after a while, as written. */
async function afterEdit({ crons, clock }: CronEditorParts, written: Cron): Promise<Cron | null> {
  let now: Cron | null = null
  const isInForce = await untilTrue(clock, async () => {
    now = await crons.get(written.team, written.cronId)
    return now === null || isDeepStrictEqual({ ...now.settings }, { ...written.settings })
  })
  return isInForce ? now : written
}
