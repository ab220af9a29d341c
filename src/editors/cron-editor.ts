import { isDeepStrictEqual } from 'node:util'
import { withKeptHeaders } from '../domain/access/masking.ts'
import type { CronSettings } from '../domain/crons/cron.ts'
import { EditRefusedError, isFault } from '../domain/errors.ts'
import type { Cron, CronEditor, CronStore } from '../ports/crons.ts'
import { type KubeObject, refOf, type ResourceStore } from '../ports/resource-store.ts'
import type { Clock } from '../ports/runtime.ts'
import { maskedHeadersOf, type TeamSettingsSource } from '../ports/settings.ts'
import { settingsOfCronSpec, specOfCronSettings } from '../resources/cron-spec.ts'
import type { HttpCronSpec, HttpCronStatus } from '../resources/generated/kinds.ts'
import {
  nameOfKeyedCron,
  nameOfNewCron,
  NAME_TRIES_MAX,
  newCronSpec,
  NO_FREE_NAME,
} from '../resources/manifests/cron-manifest.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../resources/queue-owner.ts'
import { refuseApplied, type IsReadOnly } from './managed-resources.ts'
import {
  notWatched,
  pollUntil,
  refusalOf,
  whenApplied,
  withinTimeout,
  writeChecked,
} from './resource-edit.ts'

export interface HttpCron extends KubeObject {
  readonly spec: HttpCronSpec
  readonly status?: HttpCronStatus
}

type NewCron = Pick<Cron, 'team' | 'name' | 'settings'>

interface CronEdit {
  readonly change: Partial<CronSettings>
  readonly check: ((current: CronSettings) => void) | undefined
}

export interface CronEditorOptions {
  readonly crons: Pick<CronStore, 'get' | 'getByName' | 'apply' | 'remove'>
  readonly store: Pick<ResourceStore<HttpCron>, 'create' | 'patchSpec' | 'remove' | 'read'>
  /** Tells whether we may write resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly isReadOnly: IsReadOnly
  readonly teamSettings: TeamSettingsSource
  /** Makes 8 random hex digits. */
  readonly newSuffix: () => string
  readonly clock: Clock
}

/**
 * Edits the HttpCron of a cron. Reads it from the API server, for there may be too many crons to keep a copy. Throws
 * EditRefusedError with the API server's own words, ResourceApiError when it is unavailable.
 */
export class ResourceCronEditor implements CronEditor {
  readonly #options: CronEditorOptions

  constructor(options: CronEditorOptions) {
    this.#options = options
  }

  async create(team: string, settings: CronSettings, key: string | null): Promise<Cron | 'key_used'> {
    const { isWatched, clock } = this.#options
    if (!isWatched(team)) throw notWatched('Crons', team)
    if (key !== null) return this.#createUnderKey({ team, name: nameOfKeyedCron(key), settings })
    return this.#appliedOrUndone(await withinTimeout(clock, () => this.#createWithNewName(team, settings)))
  }

  async edit(
    team: string,
    cronId: number,
    change: Partial<CronSettings>,
    check?: (current: CronSettings) => void,
  ): Promise<Cron | null> {
    const { crons, isWatched, clock } = this.#options
    const cron = await crons.get(team, cronId)
    if (cron === null) return null
    if (!isWatched(team)) throw notWatched('Crons', team)
    const settings = await withinTimeout(clock, () => this.#patch(cron, { change, check }))
    if (settings === null) return null
    return whenApplied(clock, {
      written: { ...cron, settings },
      read: () => crons.get(team, cronId),
    })
  }

  async remove(team: string, cronId: number): ReturnType<CronEditor['remove']> {
    const { crons, store, isReadOnly, clock } = this.#options
    const cron = await crons.get(team, cronId)
    if (cron === null) return 'not_found'
    const found = await withinTimeout(clock, () => store.read(team, cron.name))
    // The resource was deleted by force, so the engine still has the cron.
    if (found === null) return crons.remove(team, cron.name)
    refuseApplied(found, isReadOnly)
    await withinTimeout(clock, () => store.remove(refOf(found)))
    await pollUntil(
      clock,
      async () => (await crons.get(team, cronId)) === null && (await this.#isDeleted(found)),
    )
    return 'removed'
  }

  /**
   * The next request must not see the cron as it terminates. An unavailable API server counts as done, as it has
   * accepted the deletion.
   */
  async #isDeleted({ metadata: { namespace, name, uid } }: HttpCron): Promise<boolean> {
    const now = await this.#options.store.read(namespace, name).catch(() => null)
    return now === null || now.metadata.uid !== uid
  }

  async #createWithNewName(team: string, settings: CronSettings): Promise<HttpCron> {
    const { crons, newSuffix } = this.#options
    for (let tries = 0; tries < NAME_TRIES_MAX; tries += 1) {
      const name = nameOfNewCron(settings.displayName, newSuffix())
      // This is checked first, so that an unavailable Redis refuses the cron before there is a resource.
      if ((await crons.getByName(team, name)) !== null) continue
      const created = await this.#createNamed({ team, name, settings })
      if (created !== null) return created
    }
    throw new Error(NO_FREE_NAME)
  }

  /** Creates the resource; null when its name is taken. */
  async #createNamed({ team, name, settings }: NewCron): Promise<HttpCron | null> {
    const metadata = { name, namespace: team, labels: { [ORIGIN_LABEL]: API_ORIGIN } }
    try {
      return await this.#options.store.create({ metadata, spec: newCronSpec(settings) })
    } catch (error) {
      if (isFault(error, 'conflict')) return null
      throw error
    }
  }

  /** The name shows whether the key was used before; the API server lets one of several concurrent requests create it. */
  async #createUnderKey(cron: NewCron): Promise<Cron | 'key_used'> {
    const { crons, store, clock } = this.#options
    const { team, name, settings } = cron
    // Like `#createWithNewName`, this refuses the cron before there is a resource.
    await crons.getByName(team, name)
    const created = await withinTimeout(clock, () => this.#createNamed(cron))
    if (created !== null) return this.#appliedOrUndone(created)
    const former = await withinTimeout(clock, () => store.read(team, name))
    if (former === null || former.metadata.deletionTimestamp !== undefined) {
      throw new EditRefusedError('The cron that was created under this key is being deleted.')
    }
    const isSame = isDeepStrictEqual({ ...settingsOfCronSpec(name, former.spec) }, { ...settings })
    return isSame ? this.#applied(former) : 'key_used'
  }

  /**
   * Answers the new cron once the engine has it. If the engine cannot take it, for example because Redis has become
   * unavailable or full meanwhile, the resource is removed: the client was told that there is none, will try again, and
   * must not end up with two crons.
   */
  async #appliedOrUndone(created: HttpCron): Promise<Cron> {
    try {
      return await this.#applied(created)
    } catch (error) {
      await this.#options.store.remove(refOf(created)).catch(() => undefined)
      throw error
    }
  }

  /** Waits for the controller to apply the cron; while there is no leader, applies it from here in the same way. */
  async #applied({ metadata: { namespace: team, name }, spec }: HttpCron): Promise<Cron> {
    const { crons, clock } = this.#options
    let cron: Cron | null = null
    await pollUntil(clock, async () => (cron = await crons.getByName(team, name)) !== null)
    if (cron !== null) return cron
    await crons.apply(team, name, settingsOfCronSpec(name, spec))
    cron = await crons.getByName(team, name)
    if (cron === null) throw new EditRefusedError('The cron was deleted while it was being created.')
    return cron
  }

  /** @returns the settings that the API server has now; null when the cron is being deleted */
  async #patch(cron: Cron, { change, check }: CronEdit): Promise<CronSettings | null> {
    const { team, name } = cron
    const { store, isReadOnly, teamSettings } = this.#options
    const found = await store.read(team, name)
    if (found === null || found.metadata.deletionTimestamp !== undefined) return null
    refuseApplied(found, isReadOnly)
    const checked = (object: HttpCron): void => check?.(settingsInForce(cron, object))
    // A secret header that stands or is kept must not meet a URL that another edit gives meanwhile, so this takes a
    // lock.
    const mayMoveSecrets = change.url !== undefined || change.headers !== undefined
    const { spec } = await writeChecked(found, {
      check: check === undefined && !mayMoveSecrets ? undefined : checked,
      write: (object, lock) => {
        const masked = maskedHeadersOf(teamSettings.of(team))
        const kept = withKeptHeaders(change, settingsOfCronSpec(name, object.spec), masked)
        return store.patchSpec(refOf(object), { ...specOfCronSettings(kept) }, lock)
      },
      read: () => store.read(team, name),
    })
    return settingsOfCronSpec(name, spec)
  }
}

/**
 * The settings that the API shows and that an edit begins with. A cron whose spec was refused has them too, because
 * only an edit can mend it.
 */
function settingsInForce({ name, settings }: Cron, object: HttpCron): CronSettings {
  const asked = settingsOfCronSpec(name, object.spec)
  switch (refusalOf(object)) {
    case 'InvalidSpec':
      return settings
    case 'QuotaExceeded':
      return { ...asked, isActive: false }
    default:
      return asked
  }
}
