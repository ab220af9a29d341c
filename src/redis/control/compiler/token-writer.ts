import { NO_TERMS } from '../../../domain/access/token-terms.ts'
import { STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { CompiledToken, SettingsCompiler } from '../../../ports/settings.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { HASH_TEAMS_KEY, revokedKey, TOKENS_KEY, USED_KEY } from '../../base/layout/keys.ts'
import { encodeToken, hasText, tokenField } from '../compiled/stored-settings.ts'

/** Revoked hashes remembered of a team, some 250 KB. */
export const REVOKED_PER_TEAM_MAX = 1_000

export const PUT_TOKEN = step('put_token', import.meta.url, {
  keys: ['tokens', 'hashTeams', 'revoked'],
  args: ['epoch', 'team', 'field', 'text', 'claims', 'revokedMax'],
})

/** @param epoch of the leader; null in standalone */
export function createTokenWriter(
  engine: Engine,
  epoch: number | null,
): Pick<SettingsCompiler, 'putToken' | 'removeToken'> {
  async function put(
    team: string,
    setting: { readonly field: string; readonly text: string; readonly claims: boolean },
  ): Promise<'done' | 'taken' | 'superseded'> {
    const call = PUT_TOKEN.with({
      tokens: TOKENS_KEY,
      hashTeams: HASH_TEAMS_KEY,
      revoked: revokedKey(team),
      epoch: epoch ?? '',
      team,
      field: setting.field,
      text: setting.text,
      claims: setting.claims ? 1 : 0,
      revokedMax: REVOKED_PER_TEAM_MAX,
    })
    return (await engine.runner.run(call, STORE_DEADLINE_MS)) as 'done' | 'taken' | 'superseded'
  }

  return {
    putToken: async (token, claim = 'free') => {
      const [field, text] = [tokenField(token), encodeToken(token)]
      if (await isApplied(engine, token, { field, text })) return { status: 'applied' }
      const status = await put(token.team, { field, text, claims: claim === 'free' })
      return { status: status === 'done' ? 'applied' : status }
    },
    removeToken: async (team, name) => {
      const field = tokenField({ team, name })
      const status = await put(team, { field, text: '', claims: false })
      if (status === 'superseded') return { status }
      await engine.runner.read((redis) => redis.hdel(USED_KEY, field))
      return { status: 'removed' }
    },
  }
}

async function isApplied(
  engine: Engine,
  token: CompiledToken,
  { field, text }: { readonly field: string; readonly text: string },
): Promise<boolean> {
  const hash = encodeToken({ ...token, terms: NO_TERMS })
  const [stored, holder] = await engine.runner.read((redis) =>
    Promise.all([redis.hget(TOKENS_KEY, field), redis.hget(HASH_TEAMS_KEY, hash)]),
  )
  return stored !== null && hasText(stored, text) && holder !== null && hasText(holder, token.team)
}
