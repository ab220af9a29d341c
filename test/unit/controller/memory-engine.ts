import { isDeepStrictEqual } from 'node:util'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import type { CronSettings } from '../../../src/domain/crons/cron.ts'
import type { QueueSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { MaintenanceWindow } from '../../../src/domain/windows/maintenance-window.ts'
import {
  areUnread,
  NO_OWN_SECRETS,
  type OwnSecrets,
  withKeptHeaderValues,
} from '../../../src/ports/access/own-secrets.ts'
import type { CompileEnd, EngineFacts, SettingsCompiler, TeamPolicy } from '../../../src/ports/settings.ts'
import { queueKey } from '../../../src/resources/queue-owner.ts'

/** The applied settings, as an engine keeps them. */
export interface MemoryEngine {
  readonly compiler: SettingsCompiler
  /** By `team/name`. */
  readonly queues: Map<
    string,
    { readonly queueId: number; readonly settings: QueueSettings; isPushed: boolean }
  >
  /** By `team/name`. */
  readonly crons: Map<string, { readonly cronId: number; readonly settings: CronSettings }>
  readonly teams: Map<string, TeamPolicy>
  readonly ownAddresses: Map<string, readonly string[]>
  /** By kind and `team/name`. */
  readonly ownSecrets: Map<string, OwnSecrets>
  /** By `team/name`. */
  readonly tokens: Map<string, string>
  /** By hash; revoked ones stay. */
  readonly hashTeams: Map<string, string>
  /** By `team/name`. */
  readonly windows: Map<string, MaintenanceWindow>
  /** Whose secrets cannot be opened. */
  unopened: readonly string[]
  /** The uids by team. */
  readonly namespaces: Map<string, string>
  /** Of every cron that is active. */
  nextTickMs: number
  isAway: boolean
  /** Why it refuses writes although it answers. */
  refusal: string | null
  obstacle(): string | null
  facts: EngineFacts
  /** As a push does. */
  push(team: string, name: string, settings: QueueSettings): void
  write<T extends object>(run: (compiler: SettingsCompiler) => Promise<CompileEnd<T>>): Promise<T>
}

export function createMemoryEngine(
  onEffect: (when: 'before' | 'after') => void = () => undefined,
): MemoryEngine {
  let lastId = 0
  /** Settings that are applied already cause no write. */
  const effect = <T>(isChange: boolean, run: () => T): Promise<T> =>
    Promise.try(() => {
      if (engine.isAway) throw new StoreUnavailableError('Redis is not available: the test took it away')
      if (isChange) onEffect('before')
      const answer = run()
      if (isChange) onEffect('after')
      return answer
    })
  const compiler: SettingsCompiler = {
    applyQueue: (team, name, settings) =>
      effect(!isDeepStrictEqual(engine.queues.get(queueKey(team, name))?.settings, settings), () => {
        const key = queueKey(team, name)
        const queueId = engine.queues.get(key)?.queueId ?? (lastId += 1)
        engine.queues.set(key, { queueId, settings, isPushed: false })
        return { status: 'applied', queueId }
      }),
    removeQueue: (team, name) =>
      effect(engine.queues.has(queueKey(team, name)), () => ({
        status: engine.queues.delete(queueKey(team, name)) ? 'removed' : 'not_found',
      })),
    applyCron: (team, name, settings, formerId = null) =>
      effect(!isDeepStrictEqual(engine.crons.get(queueKey(team, name))?.settings, settings), () => {
        const key = queueKey(team, name)
        const cronId = engine.crons.get(key)?.cronId ?? formerId ?? (lastId += 1)
        engine.crons.set(key, { cronId, settings })
        return { status: 'applied', cronId, nextRunAtMs: settings.isActive ? engine.nextTickMs : null }
      }),
    removeCron: (team, name) =>
      effect(engine.crons.has(queueKey(team, name)), () => ({
        status: engine.crons.delete(queueKey(team, name)) ? 'removed' : 'not_found',
      })),
    putOwnAddresses: (of, addresses) =>
      effect(!isDeepStrictEqual(engine.ownAddresses.get(of), addresses), () => {
        engine.ownAddresses.set(of, addresses)
        return { status: 'applied' }
      }),
    putOwnSecrets: ({ team, kind, name }, secrets) => {
      const key = `${kind} ${queueKey(team, name)}`
      const held = engine.ownSecrets.get(key) ?? NO_OWN_SECRETS
      if (areUnread(secrets) && engine.ownSecrets.has(key))
        return effect(false, () => ({ status: 'applied' }))
      return effect(!isDeepStrictEqual({ ...held }, { ...secrets }), () => {
        engine.ownSecrets.set(key, secrets)
        return { status: 'applied' }
      })
    },
    withdrawHeaderValues: ({ team, kind, name }, mayKeep) => {
      const key = `${kind} ${queueKey(team, name)}`
      const held = engine.ownSecrets.get(key)
      const kept = held === undefined ? undefined : withKeptHeaderValues(held, mayKeep)
      return effect(kept !== held, () => {
        if (kept !== undefined) engine.ownSecrets.set(key, kept)
        return { status: 'applied' }
      })
    },
    putTeam: (team, policy) =>
      effect(!isDeepStrictEqual(engine.teams.get(team), policy), () => {
        engine.teams.set(team, policy)
        return { status: 'applied' }
      }),
    removeTeam: (team) =>
      effect(engine.teams.has(team), () => {
        engine.teams.delete(team)
        return { status: 'removed' }
      }),
    putToken: ({ team, name, sha256Hex }, claim = 'free') => {
      const key = queueKey(team, name)
      const holder = engine.hashTeams.get(sha256Hex) ?? (claim === 'free' ? team : null)
      if (holder !== team) return effect(engine.tokens.delete(key), () => ({ status: 'taken' }))
      return effect(engine.tokens.get(key) !== sha256Hex, () => {
        engine.hashTeams.set(sha256Hex, team)
        engine.tokens.set(key, sha256Hex)
        return { status: 'applied' }
      })
    },
    removeToken: (team, name) =>
      effect(engine.tokens.has(queueKey(team, name)), () => {
        engine.tokens.delete(queueKey(team, name))
        return { status: 'removed' }
      }),
    putWindow: (window) => {
      const key = queueKey(window.team, window.name)
      return effect(!isDeepStrictEqual(engine.windows.get(key), window), () => {
        engine.windows.set(key, window)
        return { status: 'applied' }
      })
    },
    removeWindow: (team, name) =>
      effect(engine.windows.has(queueKey(team, name)), () => {
        engine.windows.delete(queueKey(team, name))
        return { status: 'removed' }
      }),
    sealAnew: () => effect(false, () => ({ status: 'sealed', unopened: engine.unopened })),
    applied: () => Promise.resolve({ teams: [...engine.teams.keys()], tokens: [], windows: [] }),
    namespaces: () => Promise.resolve(engine.namespaces),
    claimNamespace: (team, uid) => {
      const held = engine.namespaces.get(team) ?? uid
      engine.namespaces.set(team, held)
      return Promise.resolve({ uid: held })
    },
    putNamespace: (team, uid) => {
      engine.namespaces.set(team, uid)
      return Promise.resolve({ status: 'applied' })
    },
    removeNamespace: (team) => {
      engine.namespaces.delete(team)
      return Promise.resolve({ status: 'removed' })
    },
    eraseTeam: (team) => {
      const left = [...engine.queues.keys()].find((key) => key.startsWith(`${team}/`))
      if (left === undefined) return Promise.resolve({ status: 'erased', removed: 0 })
      engine.queues.delete(left)
      return Promise.resolve({ status: 'more', removed: 1 })
    },
  }
  const engine: MemoryEngine = {
    compiler,
    queues: new Map(),
    crons: new Map(),
    teams: new Map(),
    ownAddresses: new Map(),
    ownSecrets: new Map(),
    namespaces: new Map(),
    tokens: new Map(),
    hashTeams: new Map(),
    windows: new Map(),
    unopened: [],
    nextTickMs: Date.parse('2026-11-22T03:00:00Z'),
    isAway: false,
    refusal: null,
    obstacle: () => engine.refusal,
    facts: { installation: 'one', epoch: 1, idFloor: { jobBlock: 0, queue: 0, token: 0 } },
    push: (team, name, settings) => {
      const key = queueKey(team, name)
      if (!engine.queues.has(key))
        engine.queues.set(key, { queueId: (lastId += 1), settings, isPushed: true })
    },
    write: async (run) => {
      const end = await run(compiler)
      if ('status' in end && end.status === 'superseded') throw new Error('the test knows one term')
      return end as Exclude<typeof end, { status: 'superseded' }>
    },
  }
  return engine
}
