import { hash } from 'node:crypto'
import { reasonOf, StartupError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import {
  NO_TEAM_SETTINGS,
  type TeamSettings,
  type BoundedTeamsSource,
  type TokenVerifier,
} from '../../ports/settings.ts'
import type { RedisConnection } from '../client/connection.ts'
import { TEAMS_KEY, TOKENS_KEY } from '../layout/keys.ts'
import type { SecretBox } from './secret-box.ts'
import { decodeTeam, teamsOf, tokensOf, VERSION_FIELD } from './stored-settings.ts'

/** How often readers look: with what the folder takes to look and to settle, a change is in force within 2 s. */
const REFRESH_MS = 800
/** The numbers of an installation where neither teams nor tokens were ever put. */
const NONE = ','

/**
 * The compiled copy of what resources say about teams and tokens, so that API and executors go on without their
 * source. Each hash carries the number of its last change, and only that is looked at. Owns: the teams and tokens as
 * last read, and the timer of the next look.
 *
 *     new → looking (a timer is set or a read is under way) → stopped
 *
 * `stop` waits for nothing: a read under way still ends, no other follows it.
 */
export interface CompiledSettings extends BoundedTeamsSource, TokenVerifier {
  /**
   * Reads what is stored, then goes on looking; the first read must succeed. Throws StartupError when the secrets of a
   * team cannot be opened: without them its calls would go out unsigned. Later such a team keeps the settings it had.
   */
  start(): Promise<void>
  /** Reads at once instead of at the next look. */
  refresh(): Promise<void>
  /** Whether any token was known at the last look. */
  hasTokens(): boolean
  stop(): void
}

export interface CompiledSettingsOptions {
  readonly connection: RedisConnection
  readonly box: SecretBox
  readonly clock: Clock
  readonly logger: Logger
}

export function createCompiledSettings(options: CompiledSettingsOptions): CompiledSettings {
  return new RefreshedSettings(options)
}

class RefreshedSettings implements CompiledSettings {
  readonly #options: CompiledSettingsOptions
  /** The last changes read, of teams and of tokens; null before the first read. */
  #versions: string | null = null
  #teams = new Map<string, TeamSettings>()
  #boundedTeams: readonly string[] = []
  #tokens = new Map<string, string>()
  /** Teams whose secrets cannot be opened: each is told once. */
  readonly #closed = new Set<string>()
  #cancelTimer: () => void = () => undefined
  #isStopped = false
  /** Told once, however often the next looks fail as well. */
  #isFailing = false

  constructor(options: CompiledSettingsOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    await this.refresh()
    this.#lookLater()
  }

  async refresh(): Promise<void> {
    const { connection, box } = this.#options
    const numbers = await Promise.all([
      connection.hget(TEAMS_KEY, VERSION_FIELD),
      connection.hget(TOKENS_KEY, VERSION_FIELD),
    ])
    const versions = numbers.join()
    if (versions === this.#versions) return
    if (versions === NONE && this.#versions !== null) {
      this.#versions = NONE
      throw new Error('Redis has lost them')
    }
    const [teams, tokens] = await Promise.all([connection.hgetall(TEAMS_KEY), connection.hgetall(TOKENS_KEY)])
    this.#tokens = teamsByToken(tokens)
    const isFirst = this.#versions === null
    this.#teams = new Map(
      teamsOf(teams).flatMap(([team, value]) => {
        const opened = openTeam(box, team, value)
        if (opened instanceof StartupError && isFirst) throw opened
        const settings =
          opened instanceof StartupError ? this.#former(team, opened) : this.#opened(team, opened)
        return settings === undefined ? [] : [[team, settings] as const]
      }),
    )
    this.#boundedTeams = [...this.#teams].flatMap(([team, { quotas }]) =>
      quotas.callsInFlight === null ? [] : [team],
    )
    this.#versions = versions
  }

  hasTokens(): boolean {
    return this.#tokens.size > 0
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  of(team: string): TeamSettings {
    return this.#teams.get(team) ?? NO_TEAM_SETTINGS
  }

  boundedTeams(): readonly string[] {
    return this.#boundedTeams
  }

  teamOf(token: string): string | null {
    return this.#tokens.get(hashOf(token)) ?? null
  }

  #opened(team: string, settings: TeamSettings): TeamSettings {
    this.#closed.delete(team)
    return settings
  }

  #former(team: string, { message: reason }: StartupError): TeamSettings | undefined {
    if (!this.#closed.has(team)) {
      this.#options.logger.error('A change of a team is not in force here; what it had stays so', {
        team,
        reason,
      })
    }
    this.#closed.add(team)
    return this.#teams.get(team)
  }

  #lookLater(): void {
    if (this.#isStopped) return
    this.#cancelTimer = this.#options.clock.after(REFRESH_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    try {
      await this.refresh()
      this.#isFailing = false
    } catch (error) {
      const log = this.#isFailing ? 'debug' : 'warn'
      this.#isFailing = true
      this.#options.logger[log]('Compiled settings could not be read; the known ones stay in force', {
        reason: reasonOf(error),
      })
    }
    this.#lookLater()
  }
}

/** @returns StartupError when the secrets are sealed under another key */
function openTeam(box: SecretBox, team: string, value: string): TeamSettings | StartupError {
  try {
    return decodeTeam(box, value)
  } catch (error) {
    return new StartupError(
      `The signing secrets of team ${team} in Redis were stored with another key: set PUNCTUAL_SECRETS_KEY to that key.`,
      { cause: error },
    )
  }
}

/** A token of two teams is the first one's: who learns a hash must not draw away another team's jobs with it. */
function teamsByToken(tokens: Readonly<Record<string, string>>): Map<string, string> {
  const latestFirst = tokensOf(tokens).toSorted((a, b) => b.version - a.version)
  return new Map(latestFirst.map(({ hash, team }) => [hash, team]))
}

/** Tokens are random, so a fast hash is right; looking up by hash compares no secret byte by byte. */
function hashOf(token: string): string {
  return hash('sha256', token, 'base64url')
}
