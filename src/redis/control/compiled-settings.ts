import { hash } from 'node:crypto'
import type { Principal } from '../../domain/access/principal.ts'
import { tokenPrincipal } from '../../domain/access/token-principal.ts'
import { reasonOf, StartupError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import {
  NO_TEAM_SETTINGS,
  type TeamSettings,
  type BoundedTeamsSource,
  type NotifiedTeamsSource,
  type TokenVerifier,
} from '../../ports/settings.ts'
import type { RedisConnection } from '../client/connection.ts'
import { TEAMS_KEY, TOKENS_KEY } from '../layout/keys.ts'
import type { SecretBox } from './secret-box.ts'
import { decodeTeam, OWN_TOKEN_NAME, teamsOf, tokensOf, VERSION_FIELD } from './stored-settings.ts'

/** A change must be applied within 2 s of a write to the folder, and the folder needs the rest of that time. */
const REFRESH_MS = 800
/** The versions of an installation in which neither a team nor a token was ever stored. */
const NO_VERSIONS = ','

interface CompiledSettingsOptions {
  readonly connection: RedisConnection
  readonly box: SecretBox
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Teams and tokens as compiled from resources, so that API and executors keep working while the source of the
 * resources is away. Each hash carries the version of its last change; only that is polled. Owns the teams and tokens
 * last read and the timer of the next poll.
 *
 *     new → polling (a timer is set or a read is under way) → stopped
 *
 * `stop` waits for nothing: a read under way still ends, and no other follows.
 */
export class CompiledSettings implements BoundedTeamsSource, NotifiedTeamsSource, TokenVerifier {
  readonly #options: CompiledSettingsOptions
  /** Of teams and of tokens, as last read; null before the first read. */
  #versions: string | null = null
  #teams = new Map<string, TeamSettings>()
  #boundedTeams: readonly string[] = []
  #notifiedTeams: readonly string[] = []
  #tokens = new Map<string, Principal>()
  /** Teams whose secrets cannot be opened; each is logged once. */
  readonly #sealedTeams = new Set<string>()
  #cancelTimer: () => void = () => undefined
  #isStopped = false
  /** Only the first of several failures in a row is a warning. */
  #isFailing = false

  constructor(options: CompiledSettingsOptions) {
    this.#options = options
  }

  /**
   * Reads what is stored, then polls; the first read must succeed. Throws StartupError when the secrets of a team cannot
   * be opened, because its calls would go out unsigned. After the start such a team keeps its last settings.
   */
  async start(): Promise<void> {
    await this.refresh()
    this.#schedule()
  }

  /** Reads now instead of at the next poll. */
  async refresh(): Promise<void> {
    const { connection, box } = this.#options
    const read = await Promise.all([
      connection.hget(TEAMS_KEY, VERSION_FIELD),
      connection.hget(TOKENS_KEY, VERSION_FIELD),
    ])
    const versions = read.join()
    if (versions === this.#versions) return
    if (versions === NO_VERSIONS && this.#versions !== null) {
      this.#versions = NO_VERSIONS
      throw new Error('Redis has lost them')
    }
    const [teams, tokens] = await Promise.all([connection.hgetall(TEAMS_KEY), connection.hgetall(TOKENS_KEY)])
    this.#tokens = principalsByToken(tokens)
    const isFirst = this.#versions === null
    this.#teams = new Map(
      teamsOf(teams).flatMap(([team, value]) => {
        let settings: TeamSettings | StartupError | undefined = openTeam(box, team, value)
        if (settings instanceof StartupError) {
          if (isFirst) throw settings
          settings = this.#lastSettings(team, settings)
        } else this.#sealedTeams.delete(team)
        return settings === undefined ? [] : [[team, settings] as const]
      }),
    )
    this.#boundedTeams = [...this.#teams].flatMap(([team, { quotas }]) =>
      quotas.callsInFlight === null ? [] : [team],
    )
    this.#notifiedTeams = [...this.#teams].flatMap(([team, { channels }]) =>
      channels.length === 0 ? [] : [team],
    )
    this.#versions = versions
  }

  /** Whether the last read found any token. */
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

  notifiedTeams(): readonly string[] {
    return this.#notifiedTeams
  }

  principalOf(token: string): Principal | null {
    return this.#tokens.get(hashOf(token)) ?? null
  }

  /** The tokens of a team, without that of PUNCTUAL_TOKEN. */
  tokensOf(team: string): readonly Principal[] {
    return [...this.#tokens.values()].filter(
      (principal) => principal.team === team && principal.subject !== OWN_TOKEN_NAME,
    )
  }

  /** Whether a token of this name is accepted. */
  isAccepted(team: string, name: string): boolean {
    return this.tokensOf(team).some(({ subject }) => subject === name)
  }

  #lastSettings(team: string, { message: reason }: StartupError): TeamSettings | undefined {
    if (!this.#sealedTeams.has(team)) {
      this.#options.logger.error('A change of a team is not applied; it keeps its last settings', {
        team,
        reason,
      })
    }
    this.#sealedTeams.add(team)
    return this.#teams.get(team)
  }

  #schedule(): void {
    if (this.#isStopped) return
    this.#cancelTimer = this.#options.clock.after(REFRESH_MS, () => void this.#poll())
  }

  async #poll(): Promise<void> {
    try {
      await this.refresh()
      this.#isFailing = false
    } catch (error) {
      const log = this.#isFailing ? 'debug' : 'warn'
      this.#isFailing = true
      this.#options.logger[log]('Compiled settings cannot be read; the last ones stay applied', {
        reason: reasonOf(error),
      })
    }
    this.#schedule()
  }
}

/** @returns StartupError when the secrets are sealed under another key */
function openTeam(box: SecretBox, team: string, value: string): TeamSettings | StartupError {
  try {
    return decodeTeam(box, value)
  } catch (error) {
    return new StartupError(
      `The secrets of team ${team} in Redis were stored with another key: set PUNCTUAL_SECRETS_KEY to that key.`,
      { cause: error },
    )
  }
}

/** The oldest entry of a hash wins: a team that learns another's token hash must not take over its jobs with it. */
function principalsByToken(tokens: Readonly<Record<string, string>>): Map<string, Principal> {
  const latestFirst = tokensOf(tokens).toSorted((a, b) => b.version - a.version)
  return new Map(latestFirst.map(({ hash, team, name, terms }) => [hash, tokenPrincipal(team, name, terms)]))
}

/** Tokens are random, so a fast hash is enough; a lookup by hash leaks no timing of the token itself. */
function hashOf(token: string): string {
  return hash('sha256', token, 'base64url')
}
