import { hash } from 'node:crypto'
import type { Principal } from '../../../domain/access/principal.ts'
import { tokenPrincipal } from '../../../domain/access/token-principal.ts'
import { StoreUnavailableError } from '../../../domain/errors.ts'
import { SetAside } from '../../../domain/set-aside.ts'
import type { OwnSecrets, OwnSecretsSource, SecretOwner } from '../../../ports/access/own-secrets.ts'
import type { LoopHealth } from '../../../ports/loops/loop-health.ts'
import type { Metrics } from '../../../ports/metrics.ts'
import type { Clock, Logger } from '../../../ports/runtime.ts'
import {
  NO_TEAM_SETTINGS,
  type TeamSettings,
  type BoundedTeamsSource,
  type NotifiedTeamsSource,
  type TokenVerifier,
} from '../../../ports/settings.ts'
import type { RedisConnection } from '../../base/client/connection.ts'
import { TEAMS_KEY, TOKENS_KEY } from '../../base/layout/keys.ts'
import { CompiledHash, type Reads } from './compiled-hash.ts'
import { compiledOwnSecrets } from './compiled-own-secrets.ts'
import { CompiledPoll } from './compiled-poll.ts'
import { ownerField } from './stored-own-secrets.ts'
import type { SecretBox } from '../../base/secret-box.ts'
import {
  type AcceptedToken,
  decodeTeam,
  isDescription,
  OWN_TOKEN_NAME,
  tokensOf,
  unopenedTeam,
} from './stored-settings.ts'

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

interface CompiledTeam {
  readonly settings: TeamSettings
  /** Whether its secrets could be opened; else it has none of them. */
  readonly isOpened: boolean
}

/**
 * Teams and tokens as compiled from resources, so that API and executors keep working while the source of the
 * resources is away; and the secrets of queues and crons. They are polled (`CompiledPoll` says how it is started and
 * stopped). A team whose secrets cannot be opened keeps its last settings; without any, calls that it would sign are not
 * made.
 */
export class CompiledSettings
  implements BoundedTeamsSource, NotifiedTeamsSource, TokenVerifier, OwnSecretsSource
{
  readonly #options: CompiledSettingsOptions
  readonly #poll: CompiledPoll
  readonly #teams: CompiledHash<CompiledTeam>
  readonly #tokens: CompiledHash<readonly AcceptedToken[]>
  readonly #secrets: ReturnType<typeof compiledOwnSecrets> | null
  /** What was read last, as it is asked for. */
  #boundedTeams: readonly string[] = []
  #notifiedTeams: readonly string[] = []
  #principals: ReadonlyMap<string, Principal> = new Map()

  constructor(options: CompiledSettingsOptions) {
    this.#options = options
    const { box, clock, logger, loops } = options
    const setAside = new SetAside('settings', options)
    this.#teams = compiledTeams(box, logger, (teams) => {
      this.#boundedTeams = teamsWhere(teams, ({ quotas }) => quotas.callsInFlight !== null)
      this.#notifiedTeams = teamsWhere(teams, ({ channels }) => channels.length > 0)
    })
    this.#tokens = compiledTokens(setAside, (tokens) => {
      this.#principals = principalsByToken([...tokens.values()].flat(), setAside)
    })
    this.#secrets = box === null ? null : compiledOwnSecrets(box, logger)
    const iterations = loops.of('settings', null)
    this.#poll = new CompiledPoll({ clock, iterations, refresh: () => this.refresh() })
  }

  /** Reads what is stored, then polls; the first read must succeed. */
  start(): Promise<void> {
    return this.#poll.start()
  }

  /**
   * Reads now instead of at the next poll: first teams and tokens, so that a revocation counts whatever becomes of the
   * secrets of queues and crons, which are larger.
   */
  async refresh(): Promise<void> {
    const { connection, logger } = this.#options
    const reads: Reads = (read) => read(connection)
    if ((await CompiledHash.refresh(reads, [this.#tokens, this.#teams])) === 'lost') {
      logger.warn('Redis has lost the compiled settings; the last ones stay applied')
      throw new StoreUnavailableError('Redis has lost the compiled settings')
    }
    if (this.#secrets !== null) await CompiledHash.refresh(reads, [this.#secrets])
  }

  /** Whether the last read found any token. */
  hasTokens(): boolean {
    return this.#principals.size > 0
  }

  stop(): void {
    this.#poll.stop()
  }

  of(team: string): TeamSettings {
    return this.#teams.entries.get(team)?.settings ?? NO_TEAM_SETTINGS
  }

  ownSecretsOf(owner: SecretOwner): OwnSecrets | 'unreadable' | null {
    return this.#secrets?.entries.get(ownerField(owner))?.secrets ?? null
  }

  boundedTeams(): readonly string[] {
    return this.#boundedTeams
  }

  notifiedTeams(): readonly string[] {
    return this.#notifiedTeams
  }

  principalOf(token: string): Principal | null {
    return this.#principals.get(hashOf(token)) ?? null
  }

  /** The tokens of a team, without that of PUNCTUAL_TOKEN. */
  tokensOf(team: string): readonly Principal[] {
    return [...this.#principals.values()].filter(
      (principal) => principal.team === team && principal.subject !== OWN_TOKEN_NAME,
    )
  }

  /** Whether a token of this name is accepted. */
  isAccepted(team: string, name: string): boolean {
    return this.tokensOf(team).some(({ subject }) => subject === name)
  }
}

function teamsWhere(
  teams: ReadonlyMap<string, CompiledTeam>,
  holds: (settings: TeamSettings) => boolean,
): readonly string[] {
  return [...teams].flatMap(([team, { settings }]) => (holds(settings) ? [team] : []))
}

function compiledTeams(
  box: SecretBox | null,
  logger: Pick<Logger, 'error'>,
  onRead: (teams: ReadonlyMap<string, CompiledTeam>) => void,
): CompiledHash<CompiledTeam> {
  return new CompiledHash<CompiledTeam>({
    key: TEAMS_KEY,
    onRead,
    isEntry: (field) => !isDescription(field),
    decode: (team, value) => ({ settings: decodeTeam(box, team, value), isOpened: true }),
    instead: ({ field: team, value, last, isNew }) => {
      const isKept = last?.isOpened === true
      const message = isKept
        ? 'A change of a team is not applied; it keeps its last settings'
        : 'The secrets of a team cannot be opened; its calls are not made'
      if (isNew) logger.error(message, { team, reason: SEALED_ELSEWHERE })
      return isKept ? last : { settings: unopenedTeam(team, value), isOpened: false }
    },
  })
}

/** Of each entry the token, or none if a later version has written its terms. */
function compiledTokens(
  setAside: SetAside,
  onRead: (tokens: ReadonlyMap<string, readonly AcceptedToken[]>) => void,
): CompiledHash<readonly AcceptedToken[]> {
  return new CompiledHash<readonly AcceptedToken[]>({
    key: TOKENS_KEY,
    onRead,
    isEntry: (field) => field.startsWith('['),
    decode: (field, value) => tokensOf({ [field]: value }),
    instead: ({ field, defect }) => {
      setAside.note({ token: field }, defect)
      return null
    },
  })
}

/** The oldest entry of a hash wins: a team that learns another's token hash must not take over its jobs with it. */
function principalsByToken(tokens: readonly AcceptedToken[], setAside: SetAside): Map<string, Principal> {
  const latestFirst = tokens.toSorted((a, b) => b.version - a.version)
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
