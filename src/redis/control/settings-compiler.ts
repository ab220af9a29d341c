import { hash } from 'node:crypto'
import { STORE_DEADLINE_MS } from '../../domain/limits.ts'
import { NO_QUOTAS, QUOTA_NAMES } from '../../domain/quotas.ts'
import type { CompileEnd, SettingsCompiler, TeamPolicy } from '../../ports/settings.ts'
import { createCronWriter } from '../crons/write/cron-writer.ts'
import type { Engine } from '../client/engine.ts'
import { TEAMS_KEY, TOKENS_KEY } from '../layout/keys.ts'
import { createQueueWriter } from '../queues/queue-writer.ts'
import type { SecretBox } from './secret-box.ts'
import {
  decodeTeam,
  encodeTeam,
  OWN_TOKEN_NAME,
  says,
  teamsOf,
  tokenField,
  tokensOf,
} from './stored-settings.ts'

export interface SettingsCompilerOptions {
  readonly engine: Engine
  readonly box: SecretBox
  /** The leader's epoch; null where nobody else compiles, as in standalone. */
  readonly epoch: number | null
}

/** Throws StoreUnavailableError. */
export function createSettingsCompiler({ engine, box, epoch }: SettingsCompilerOptions): SettingsCompiler {
  const queues = createQueueWriter(engine, { epoch, isCompiled: true })
  const crons = createCronWriter(engine, epoch)

  /** @param text '' takes the field away */
  async function put(key: string, field: string, text: string): Promise<'done' | 'superseded'> {
    const args = [epoch ?? '', field, text]
    const answer = await engine.runner.run({ name: 'put_setting', keys: [key], args }, STORE_DEADLINE_MS)
    return answer === 'superseded' ? 'superseded' : 'done'
  }

  async function putUnlessApplied(
    key: string,
    field: string,
    setting: { isApplied(value: string): boolean; encode(): string },
  ): Promise<CompileEnd<{ readonly status: 'applied' }>> {
    const stored = await engine.runner.read((redis) => redis.hget(key, field))
    if (stored !== null && setting.isApplied(stored)) return { status: 'applied' }
    const end = await put(key, field, setting.encode())
    return { status: end === 'superseded' ? end : 'applied' }
  }

  async function remove(key: string, field: string): Promise<CompileEnd<{ readonly status: 'removed' }>> {
    const end = await put(key, field, '')
    return { status: end === 'superseded' ? end : 'removed' }
  }

  return {
    applyQueue: (team, name, settings) => queues.apply(team, name, settings),
    removeQueue: async (team, name) => ({ status: await queues.remove(team, name) }),
    applyCron: (team, name, settings, formerId = null) => crons.apply(team, name, settings, formerId),
    removeCron: async (team, name) => ({ status: await crons.remove(team, name) }),
    putTeam: (team, policy) =>
      putUnlessApplied(TEAMS_KEY, team, {
        isApplied: (value) => isPolicy(box, value, policy),
        encode: () => encodeTeam(box, policy),
      }),
    removeTeam: (team) => remove(TEAMS_KEY, team),
    putTokenHash: (team, name, sha256Hex) => {
      const text = Buffer.from(sha256Hex, 'hex').toString('base64url')
      return putUnlessApplied(TOKENS_KEY, tokenField({ team, name }), {
        isApplied: (value) => says(value, text),
        encode: () => text,
      })
    },
    removeToken: (team, name) => remove(TOKENS_KEY, tokenField({ team, name })),
    applied: async () => {
      const [teams, tokens] = await engine.runner.read((redis) =>
        Promise.all([redis.hgetall(TEAMS_KEY), redis.hgetall(TOKENS_KEY)]),
      )
      return {
        teams: teamsOf(teams).map(([team]) => team),
        tokens: tokensOf(tokens)
          .filter(({ name }) => name !== OWN_TOKEN_NAME)
          .map(({ team, name }) => ({ team, name })),
      }
    },
  }
}

/** Makes the token that a process was given the only one of that kind in the team. */
export async function putOwnToken(compiler: SettingsCompiler, team: string, token: string): Promise<void> {
  await compiler.putTokenHash(team, OWN_TOKEN_NAME, hash('sha256', token, 'hex'))
}

/** What another key has sealed, or an earlier version wrote, is no policy in force: it is written anew. */
function isPolicy(box: SecretBox, value: string, policy: TeamPolicy): boolean {
  try {
    const { egressAllow, signingSecrets, quotas } = decodeTeam(box, value)
    const wanted = policy.quotas ?? NO_QUOTAS
    return (
      isSame(egressAllow, policy.egressAllow) &&
      isSame(signingSecrets, policy.signingSecrets) &&
      QUOTA_NAMES.every((name) => quotas[name] === wanted[name])
    )
  } catch {
    return false
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i])
}
