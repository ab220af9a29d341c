import { hash } from 'node:crypto'
import { reasonOf, StartupError } from '../domain/errors.ts'
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
/** No number of a change: whatever is stored next is news. */
const LOST = 'lost'

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
  /** Makes this the only token of that name; a former one is no longer accepted. */
  putToken(name: string, token: string, team: string): Promise<void>
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
    putToken: async (name, token, team) => {
      const hash = hashOf(token)
      const entry = JSON.stringify([team, name])
      const known = await connection.hgetall(TOKENS_KEY)
      const former = Object.keys(known).filter(
        (other) => other !== hash && tokenEntry(known[other]).name === name,
      )
      if (known[hash] === entry && former.length === 0) return
      await change(async () => {
        await connection.hset(TOKENS_KEY, hash, entry)
        if (former.length > 0) await connection.hdel(TOKENS_KEY, ...former)
      })
    },
  }
}

/**
 * The readers' copy. Owns: the teams and tokens as last read, and the timer of the next look.
 *
 *     new → looking (a timer is set or a read is under way) → stopped
 *
 * `stop` waits for nothing: a read under way still ends, no other follows it.
 */
export interface CompiledSettings extends TeamSettingsSource, TokenVerifier {
  /** Reads what is stored, then goes on looking; the first read must succeed. */
  start(): Promise<void>
  /** Reads at once instead of at the next look. */
  refresh(): Promise<void>
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
  #version: string | null = null
  #teams = new Map<string, TeamSettings>()
  #tokens = new Map<string, string>()
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
    const current = await connection.hget(META_KEY, 'settings')
    if (current === this.#version) return
    if (current === null) {
      this.#version = LOST
      throw new Error('Redis has lost them')
    }
    const [teams, tokens] = await Promise.all([connection.hgetall(TEAMS_KEY), connection.hgetall(TOKENS_KEY)])
    this.#teams = new Map(Object.entries(teams).map(([team, json]) => [team, openTeam(box, team, json)]))
    this.#tokens = new Map(Object.entries(tokens).map(([hash, json]) => [hash, tokenEntry(json).team]))
    this.#version = current
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  of(team: string): TeamSettings {
    return this.#teams.get(team) ?? NO_TEAM_SETTINGS
  }

  teamOf(token: string): string | null {
    return this.#tokens.get(hashOf(token)) ?? null
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

/** @throws StartupError when the secrets are sealed under another key: without them calls would go out unsigned */
function openTeam(box: SecretBox, team: string, json: string): TeamSettings {
  const { version, egressAllow, signingSecrets } = JSON.parse(json) as StoredTeam
  try {
    return { version, egressAllow, signingSecrets: signingSecrets.map((sealed) => box.open(sealed)) }
  } catch (error) {
    throw new StartupError(
      `The signing secrets of team ${team} in Redis were stored with another key: set PUNCTUAL_SECRETS_KEY to that key.`,
      { cause: error },
    )
  }
}

function tokenEntry(json = '["",""]'): { team: string; name: string } {
  const [team, name] = JSON.parse(json) as [string, string]
  return { team, name }
}

/** Tokens are random, so a fast hash is right; looking up by hash compares no secret byte by byte. */
function hashOf(token: string): string {
  return hash('sha256', token, 'base64url')
}
