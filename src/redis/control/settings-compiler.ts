import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { NO_TERMS } from '../../domain/access/token-terms.ts'
import { NO_QUOTAS, QUOTA_NAMES } from '../../domain/quotas.ts'
import type { CompileEnd, SettingsCompiler, TeamPolicy } from '../../ports/settings.ts'
import { CronWriter } from '../crons/write/cron-writer.ts'
import type { Engine } from '../client/engine.ts'
import { TEAMS_KEY, TOKENS_KEY, USED_KEY, WINDOWS_KEY } from '../layout/keys.ts'
import { QueueWriter } from '../queues/queue-writer.ts'
import { putSetting } from './put-setting.ts'
import type { SecretBox } from './secret-box.ts'
import {
  decodeTeam,
  encodeTeam,
  encodeToken,
  OWN_TOKEN_NAME,
  hasText,
  teamsOf,
  tokenField,
  tokensOf,
} from './stored-settings.ts'
import { encodeWindow, windowField, windowFieldsOf, windowKeyOf } from './stored-windows.ts'

/**
 * Throws StoreUnavailableError.
 * @param options.epoch of the leader; null in standalone, where there is no leader
 */
export function createSettingsCompiler({
  engine,
  box,
  epoch,
}: {
  engine: Engine
  box: SecretBox
  epoch: number | null
}): SettingsCompiler {
  const queues = new QueueWriter(engine, { epoch, isCompiled: true })
  const crons = new CronWriter(engine, epoch)

  async function putUnlessApplied(
    hash: string,
    field: string,
    setting: { isApplied(value: string): boolean; encode(): string },
  ): Promise<CompileEnd<{ readonly status: 'applied' }>> {
    const stored = await engine.runner.read((redis) => redis.hget(hash, field))
    if (stored !== null && setting.isApplied(stored)) return { status: 'applied' }
    const end = await putSetting(engine, { hash, epoch, field, text: setting.encode() })
    return { status: end === 'superseded' ? end : 'applied' }
  }

  const putText = (hash: string, field: string, text: string) =>
    putUnlessApplied(hash, field, { isApplied: (value) => hasText(value, text), encode: () => text })

  async function remove(hash: string, field: string): Promise<CompileEnd<{ readonly status: 'removed' }>> {
    const end = await putSetting(engine, { hash, epoch, field, text: '' })
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
    putToken: (token) => putText(TOKENS_KEY, tokenField(token), encodeToken(token)),
    removeToken: async (team, name) => {
      const field = tokenField({ team, name })
      const end = await remove(TOKENS_KEY, field)
      await engine.runner.read((redis) => redis.hdel(USED_KEY, field))
      return end
    },
    putWindow: (window) => putText(WINDOWS_KEY, windowField(window), encodeWindow(window)),
    removeWindow: (team, name) => remove(WINDOWS_KEY, windowField({ team, name })),
    applied: () => readApplied(engine),
  }
}

async function readApplied(engine: Engine): ReturnType<SettingsCompiler['applied']> {
  const [teams, tokens, windows] = await engine.runner.read((redis) =>
    Promise.all([redis.hgetall(TEAMS_KEY), redis.hgetall(TOKENS_KEY), redis.hkeys(WINDOWS_KEY)]),
  )
  return {
    teams: teamsOf(teams).map(([team]) => team),
    tokens: tokensOf(tokens)
      .filter(({ name }) => name !== OWN_TOKEN_NAME)
      .map(({ team, name }) => ({ team, name })),
    windows: windowFieldsOf(windows).map(windowKeyOf),
  }
}

/** Stores the token of PUNCTUAL_TOKEN, in place of the team's last one. */
export async function putOwnToken(compiler: SettingsCompiler, team: string, token: string): Promise<void> {
  const sha256Hex = hash('sha256', token, 'hex')
  await compiler.putToken({ team, name: OWN_TOKEN_NAME, sha256Hex, terms: NO_TERMS })
}

/** A value that was sealed under another key or that cannot be read does not count as applied, so it is overwritten. */
function isPolicy(box: SecretBox, value: string, policy: TeamPolicy): boolean {
  try {
    const applied = decodeTeam(box, value)
    const { egressAllow, signingSecrets, quotas = NO_QUOTAS, channels = [], members = [] } = policy
    return (
      isDeepStrictEqual(applied.egressAllow, egressAllow) &&
      isDeepStrictEqual(applied.signingSecrets, signingSecrets) &&
      QUOTA_NAMES.every((name) => applied.quotas[name] === quotas[name]) &&
      isDeepStrictEqual(applied.channels, channels) &&
      isDeepStrictEqual(applied.members, members)
    )
  } catch {
    return false
  }
}
