import { reasonOf } from '../../domain/errors.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import {
  TEAM_SETTINGS_NAME,
  type ApiToken,
  type KindAccess,
  type MaintenanceWindow,
  type TeamSettings,
  type Workqueues,
} from '../kinds.ts'

export interface OrphanSettingsParts {
  readonly engine: Pick<LeaderSession, 'applied'>
  readonly isWatched: (namespace: string) => boolean
  readonly teams: Pick<KindAccess<TeamSettings>, 'informer'>
  readonly tokens: Pick<KindAccess<ApiToken>, 'informer'>
  readonly windows: Pick<KindAccess<MaintenanceWindow>, 'informer'>
  readonly enqueue: Pick<Workqueues, 'teams' | 'tokens' | 'windows'>
  readonly logger: Logger
}

/**
 * Enqueues applied teams, tokens and windows whose resource is missing because it was deleted while nobody watched. The
 * reconciler confirms the deletion with the API server before it removes anything. Owns whether a search was asked for
 * while one runs.
 */
export class OrphanSettings {
  readonly #parts: OrphanSettingsParts
  #running: Promise<void> | null = null
  #isAskedAgain = false

  constructor(parts: OrphanSettingsParts) {
    this.#parts = parts
  }

  /** Searches once, and once more if it is asked again meanwhile, however often. Never throws. */
  async find(signal: AbortSignal): Promise<void> {
    this.#isAskedAgain = this.#running !== null
    this.#running ??= this.#findAll(signal).finally(() => (this.#running = null))
    await this.#running
  }

  async #findAll(signal: AbortSignal): Promise<void> {
    do {
      this.#isAskedAgain = false
      await this.#findOnce(signal)
    } while (this.#isAskedAgain && !signal.aborted)
  }

  async #findOnce(signal: AbortSignal): Promise<void> {
    const { engine, isWatched, enqueue, logger } = this.#parts
    const [teams, tokens, windows] = [
      this.#parts.teams.informer,
      this.#parts.tokens.informer,
      this.#parts.windows.informer,
    ]
    try {
      await Promise.all([teams, tokens, windows].map((informer) => informer.whenSynced(signal)))
      const applied = await engine.applied()
      for (const team of applied.teams) {
        const key = `${team}/${TEAM_SETTINGS_NAME}`
        if (isWatched(team) && teams.get(key) === undefined) enqueue.teams(key, 'low')
      }
      for (const { team, name } of applied.tokens) {
        const key = `${team}/${name}`
        if (isWatched(team) && tokens.get(key) === undefined) enqueue.tokens(key, 'low')
      }
      for (const { team, name } of applied.windows) {
        const key = `${team}/${name}`
        if (isWatched(team) && windows.get(key) === undefined) enqueue.windows(key, 'low')
      }
    } catch (error) {
      if (signal.aborted) return
      logger.warn('Settings without a resource could not be searched for', { reason: reasonOf(error) })
    }
  }
}
