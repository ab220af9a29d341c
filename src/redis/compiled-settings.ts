import { createHash } from 'node:crypto'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import {
  NO_TEAM_SETTINGS,
  type TeamSettings,
  type TeamSettingsSource,
  type TokenVerifier,
} from '../ports/team-settings.ts'
import type { RedisConnection } from './connection.ts'
import { META_KEY, TEAMS_KEY, TOKENS_KEY } from './keys.ts'
import type { SecretBox } from './secret-box.ts'

/**
 * The compiled copy of what resources say about teams and tokens, so that API and executors go on without their
 * source. The writer raises `settings` in the installation's facts; the readers look at that number.
 */

/** How often readers look: with the folder's own look of 1 s a change is in force within 2 s. */
const REFRESH_MS = 800

export interface TeamPolicy {
  readonly egressAllow: readonly string[]
  readonly signingSecrets: readonly string[]
}

interface StoredTeam {
  readonly version: number
  readonly egressAllow: readonly string[]
  /** Each sealed under the installation's key. */
  readonly signingSecrets: readonly string[]
}

export interface CompiledSettingsWriter {
  putTeam(team: string, policy: TeamPolicy): Promise<void>
  removeTeam(team: string): Promise<void>
  putToken(token: string, team: string): Promise<void>
}

export function createCompiledSettingsWriter(
  connection: RedisConnection,
  box: SecretBox,
): CompiledSettingsWriter {
  /** A reader may see the number before or after the fact: it is raised on both sides, so none is missed. */
  async function change(write: (version: number) => Promise<unknown>): Promise<void> {
    await write(await connection.hincrby(META_KEY, 'settings', 1))
    await connection.hincrby(META_KEY, 'settings', 1)
  }
  return {
    putTeam: async (team, policy) => {
      await change((version) => {
        const stored: StoredTeam = {
          version,
          egressAllow: policy.egressAllow,
          signingSecrets: policy.signingSecrets.map((secret) => box.seal(secret)),
        }
        return connection.hset(TEAMS_KEY, team, JSON.stringify(stored))
      })
    },
    removeTeam: async (team) => {
      await change(() => connection.hdel(TEAMS_KEY, team))
    },
    putToken: async (token, team) => {
      const hash = hashOf(token)
      if ((await connection.hget(TOKENS_KEY, hash)) === team) return
      await change(() => connection.hset(TOKENS_KEY, hash, team))
    },
  }
}

export interface CompiledSettings extends TeamSettingsSource, TokenVerifier {
  /** Reads what is stored, then goes on looking; the first read must succeed. */
  start(): Promise<void>
  /** Reads at once instead of at the next look. */
  refresh(): Promise<void>
  stop(): void
}

export function createCompiledSettings(options: {
  connection: RedisConnection
  box: SecretBox
  clock: Clock
  logger: Logger
}): CompiledSettings {
  const { connection, box, clock, logger } = options
  let version: string | null = null
  let teams = new Map<string, TeamSettings>()
  let tokens = new Map<string, string>()
  let cancelTimer: (() => void) | null = null
  let isStopped = false

  async function refresh(): Promise<void> {
    const current = await connection.hget(META_KEY, 'settings')
    if (current === version) return
    const [storedTeams, storedTokens] = await Promise.all([
      connection.hgetall(TEAMS_KEY),
      connection.hgetall(TOKENS_KEY),
    ])
    teams = new Map(Object.entries(storedTeams).map(([team, json]) => [team, openTeam(json)]))
    tokens = new Map(Object.entries(storedTokens))
    version = current
  }

  function openTeam(json: string): TeamSettings {
    const stored = JSON.parse(json) as StoredTeam
    return {
      version: stored.version,
      egressAllow: stored.egressAllow,
      signingSecrets: stored.signingSecrets.map((sealed) => box.open(sealed)),
    }
  }

  function lookLater(): void {
    if (isStopped) return
    cancelTimer = clock.after(REFRESH_MS, () => {
      refresh()
        .catch((error: Error) =>
          logger.warn('Compiled settings could not be read; the known ones stay in force', {
            reason: error.message,
          }),
        )
        .finally(lookLater)
    })
  }

  return {
    start: async () => {
      await refresh()
      lookLater()
    },
    refresh,
    stop: () => {
      isStopped = true
      cancelTimer?.()
    },
    of: (team) => teams.get(team) ?? NO_TEAM_SETTINGS,
    teamOf: (token) => tokens.get(hashOf(token)) ?? null,
  }
}

/** Tokens are random, so a fast hash is right; looking up by hash compares no secret byte by byte. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
