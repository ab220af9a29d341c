import { hash } from 'node:crypto'
import type { Principal } from '../../domain/access/principal.ts'
import { tokenPrincipal } from '../../domain/access/token-principal.ts'
import { StoreUnavailableError } from '../../domain/errors.ts'
import { SetAside } from '../../domain/set-aside.ts'
import type { OwnSecrets, OwnSecretsSource, SecretOwner } from '../../ports/access/own-secrets.ts'
import type { LoopHealth, LoopTurns } from '../../ports/loops/loop-health.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import {
  NO_TEAM_SETTINGS,
  type TeamSettings,
  type BoundedTeamsSource,
  type NotifiedTeamsSource,
  type TokenVerifier,
} from '../../ports/settings.ts'
import type { RedisConnection } from '../client/connection.ts'
import { asStoreFault } from '../client/faults.ts'
import { TEAMS_KEY, TOKENS_KEY } from '../layout/keys.ts'
import { CompiledOwnSecrets } from './compiled-own-secrets.ts'
import type { SecretBox } from '../sealing/secret-box.ts'
import {
  decodeTeam,
  OWN_TOKEN_NAME,
  teamsOf,
  tokensOf,
  unopenedTeam,
  VERSION_FIELD,
} from './stored-settings.ts'

/** A change must be applied within 2 s of a write to the folder, and the folder needs the rest; and OWN_SECRETS_READ_MS. */
const REFRESH_MS = 800
/** The versions of an installation in which neither a team nor a token was ever stored. */
const NO_VERSIONS = ','
const SEALED_ELSEWHERE =
  'its secrets in Redis were stored with another key: set PUNCTUAL_SECRETS_KEY to that key, or name it in PUNCTUAL_OTHER_SECRETS_KEYS'

interface CompiledSettingsOptions {
  readonly connection: RedisConnection
  /** null = in a process that needs no secrets. */
  readonly box: SecretBox | null
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'setAside'>
  readonly loops: LoopHealth
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
export class CompiledSettings
  implements BoundedTeamsSource, NotifiedTeamsSource, TokenVerifier, OwnSecretsSource
{
  readonly #options: CompiledSettingsOptions
  /** Of teams and of tokens, as last read; null before the first read. */
  #versions: string | null = null
  #teams = new Map<string, TeamSettings>()
  #boundedTeams: readonly string[] = []
  #notifiedTeams: readonly string[] = []
  #tokens = new Map<string, Principal>()
  /** Teams whose secrets cannot be opened; each is logged once. */
  readonly #sealedTeams = new Set<string>()
  /** Settings without secrets, because those could not be opened. */
  readonly #unopened = new WeakSet<TeamSettings>()
  readonly #secrets: CompiledOwnSecrets
  #cancelTimer: () => void = () => undefined
  #isStopped = false
  readonly #setAside: SetAside
  readonly #turns: LoopTurns

  constructor(options: CompiledSettingsOptions) {
    this.#options = options
    this.#secrets = new CompiledOwnSecrets(options.logger)
    this.#setAside = new SetAside('settings', options)
    this.#turns = options.loops.of('settings', null)
  }

  /**
   * Reads what is stored, then polls; the first read must succeed. A team whose secrets cannot be opened keeps its last
   * settings; without any, calls that it would sign are not made.
   */
  async start(): Promise<void> {
    await this.refresh()
    this.#schedule()
  }

  /**
   * Reads now instead of at the next poll: first teams and tokens, so that a revocation counts whatever becomes of the
   * secrets of queues and crons, which are larger.
   */
  async refresh(): Promise<void> {
    await this.#refreshTeams()
    const { connection, box } = this.#options
    if (box !== null) await this.#secrets.refresh(connection, box)
  }

  async #refreshTeams(): Promise<void> {
    const { connection, box } = this.#options
    const read = await Promise.all([
      connection.hget(TEAMS_KEY, VERSION_FIELD),
      connection.hget(TOKENS_KEY, VERSION_FIELD),
    ])
    const versions = read.join()
    if (versions === this.#versions) return
    if (versions === NO_VERSIONS && this.#versions !== null) {
      this.#versions = NO_VERSIONS
      this.#options.logger.warn('Redis has lost the compiled settings; the last ones stay applied')
      throw new StoreUnavailableError('Redis has lost the compiled settings')
    }
    const [teams, tokens] = await Promise.all([connection.hgetall(TEAMS_KEY), connection.hgetall(TOKENS_KEY)])
    this.#tokens = principalsByToken(tokens, this.#setAside)
    this.#teams = new Map(
      teamsOf(teams).map(([team, value]) => [team, this.#openTeam(box, team, value)] as const),
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

  ownSecretsOf(owner: SecretOwner): OwnSecrets | 'unreadable' | null {
    return this.#secrets.of(owner)
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

  #openTeam(box: SecretBox | null, team: string, value: string): TeamSettings {
    try {
      const settings = decodeTeam(box, team, value)
      this.#sealedTeams.delete(team)
      return settings
    } catch {
      const last = this.#teams.get(team)
      const kept = last === undefined || this.#unopened.has(last) ? null : last
      this.#logSealed(team, kept !== null)
      if (kept !== null) return kept
      const settings = unopenedTeam(team, value)
      this.#unopened.add(settings)
      return settings
    }
  }

  #logSealed(team: string, isKept: boolean): void {
    if (!this.#sealedTeams.has(team)) {
      const message = isKept
        ? 'A change of a team is not applied; it keeps its last settings'
        : 'The secrets of a team cannot be opened; its calls are not made'
      this.#options.logger.error(message, { team, reason: SEALED_ELSEWHERE })
    }
    this.#sealedTeams.add(team)
  }

  #schedule(delayMs = REFRESH_MS): void {
    if (this.#isStopped) return
    this.#cancelTimer = this.#options.clock.after(delayMs, () => void this.#poll())
  }

  async #poll(): Promise<void> {
    try {
      await this.refresh()
      this.#turns.succeeded()
      this.#schedule()
    } catch (error) {
      // The last ones stay applied.
      this.#schedule(this.#turns.failed(asStoreFault(error)) ?? REFRESH_MS)
    }
  }
}

/** The oldest entry of a hash wins: a team that learns another's token hash must not take over its jobs with it. */
function principalsByToken(
  tokens: Readonly<Record<string, string>>,
  setAside: SetAside,
): Map<string, Principal> {
  const readable = Object.entries(tokens).flatMap(([field, value]) =>
    setAside.try({ token: field }, () => tokensOf({ [field]: value }), []),
  )
  const latestFirst = readable.toSorted((a, b) => b.version - a.version)
  return new Map(
    latestFirst.flatMap(({ hash, team, name, terms }) =>
      setAside.try({ team, token: name }, () => [[hash, tokenPrincipal(team, name, terms)] as const], []),
    ),
  )
}

/** Tokens are random, so a fast hash is enough; a lookup by hash leaks no timing of the token itself. */
function hashOf(token: string): string {
  return hash('sha256', token, 'base64url')
}
