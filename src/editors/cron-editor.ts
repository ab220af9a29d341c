import { isDeepStrictEqual } from 'node:util'
import { withKeptHeaders } from '../domain/access/masking.ts'
import type { CronSettings } from '../domain/crons/cron.ts'
import { EditRefusedError, isFault, ResourceApiError } from '../domain/errors.ts'
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
import { isUnfinished, UNFINISHED_ANNOTATION } from '../resources/cron-secret.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../resources/queue-owner.ts'
import { CronSecrets, type CronSecretStore } from './cron-secrets.ts'
import { refuseApplied, type IsReadOnly } from './managed-resources.ts'
import {
  isRefusal,
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

/** A controller reads the Secret first, and gives executors a second to know it. */
const SECRET_APPLIED_WAIT_MS = 8_000

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
  /** null = secret headers stay in the resource. */
  readonly cronSecrets: CronSecretStore | null
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
  readonly #secrets: CronSecrets

  constructor(options: CronEditorOptions) {
    const { cronSecrets: store, teamSettings, newSuffix } = options
    this.#options = options
    this.#secrets = new CronSecrets({ store, teamSettings, newSuffix })
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

  /**
   * Creates the resource; null when its name is taken. One with a Secret is marked as unfinished until the Secret is there,
   * so that nothing of it stays if this process dies in between.
   */
  async #createNamed({ team, name, settings }: NewCron): Promise<HttpCron | null> {
    const { store } = this.#options
    const { headers, secret } = this.#secrets.split(team, name, settings.headers)
    const annotations = secret === null ? {} : { annotations: { [UNFINISHED_ANNOTATION]: 'true' } }
    const metadata = { name, namespace: team, labels: { [ORIGIN_LABEL]: API_ORIGIN }, ...annotations }
    let created: HttpCron
    try {
      created = await store.create({ metadata, spec: newCronSpec({ ...settings, headers }) })
    } catch (error) {
      if (isFault(error, 'conflict')) return null
      throw error
    }
    if (secret === null) return created
    try {
      await this.#secrets.finish(created, secret, { url: settings.url, spec: {} })
      return created
    } catch (error) {
      await store.remove(refOf(created)).catch(() => undefined)
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
    const compared = (one: CronSettings) => ({
      ...one,
      headers: this.#secrets.withoutValues(team, one.headers),
    })
    const isSame = isDeepStrictEqual(compared(settingsOfCronSpec(name, former.spec)), compared(settings))
    if (!isSame) return 'key_used'
    if (isUnfinished(former)) await withinTimeout(clock, () => this.#finishFormer(former, cron))
    return this.#applied(former)
  }

  /** The process that made it has died, or is about to finish it: both make a Secret, and the cron names one of them. */
  async #finishFormer(former: HttpCron, { team, name, settings }: NewCron): Promise<void> {
    const { headers, secret } = this.#secrets.split(team, name, settings.headers)
    if (secret === null) return
    await this.#secrets.finish(former, secret, {
      url: settings.url,
      spec: { ...specOfCronSettings({ headers }) },
    })
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
    const hasSecret =
      this.#options.cronSecrets !== null && spec.headers.some(({ valueFrom }) => valueFrom !== undefined)
    const isThere = async () => (cron = await crons.getByName(team, name)) !== null
    await pollUntil(clock, isThere, hasSecret ? SECRET_APPLIED_WAIT_MS : undefined)
    if (cron !== null) return cron
    // Only a controller reads Secrets: without it each run would fail.
    if (hasSecret)
      throw new ResourceApiError('unavailable', 'no controller has applied the cron and its Secret')
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
        return this.#patchWithSecrets(object, kept, lock)
      },
      read: () => store.read(team, name),
    })
    return settingsOfCronSpec(name, spec)
  }

  /** Makes the Secret of new values before the spec names it, and deletes the former one after it names it no more. */
  async #patchWithSecrets(
    object: HttpCron,
    change: Partial<CronSettings>,
    lock: string | null,
  ): Promise<HttpCron> {
    const { store } = this.#options
    const { namespace: team, name } = object.metadata
    const patch = (settings: Partial<CronSettings>) =>
      store.patchSpec(refOf(object), { ...specOfCronSettings(settings) }, lock)
    if (change.headers === undefined) return patch(change)
    const { headers, secret } = this.#secrets.split(team, name, change.headers)
    if (secret !== null) await this.#secrets.make(object, secret, change.url ?? object.spec.url)
    try {
      const written = await patch({ ...change, headers })
      await this.#secrets.removeUnnamed(
        { team, cron: name },
        settingsOfCronSpec(name, object.spec).headers,
        headers,
      )
      return written
    } catch (error) {
      // Without an answer the spec may name the Secret by now, so it must stay.
      if (secret !== null && isRefusal(error)) await this.#secrets.remove(team, secret.name)
      throw error
    }
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
