import { EditRefusedError } from '../../domain/errors.ts'
import { TOKENS_PER_TEAM_MAX } from '../../domain/limits.ts'
import type { ListedToken, TokenKeeper, TokenStore } from '../../ports/access/tokens.ts'
import { formatCursor, type ListScope, parseCursor } from '../../redis/names/list-cursor.ts'

export function createTokenStore(keeper: TokenKeeper): TokenStore {
  const find = async (team: string, name: string): Promise<ListedToken | null> =>
    (await keeper.all(team)).find((token) => token.name === name) ?? null

  return {
    list: async ({ team, limit, cursor }) => {
      const scope: ListScope = ['tokens', team]
      const after = cursor === null ? '' : parseCursor(scope, cursor)
      if (after === null) return 'bad_cursor'
      const later = (await keeper.all(team))
        .filter(({ name }) => name > after)
        .toSorted((left, right) => (left.name < right.name ? -1 : 1))
      const tokens = later.slice(0, limit)
      const last = later.length > limit ? tokens.at(-1) : undefined
      return { tokens, nextCursor: last === undefined ? null : formatCursor(scope, last.name) }
    },
    get: find,
    create: async (token) => {
      const all = await keeper.all(token.team)
      if (all.some(({ name }) => name === token.name)) {
        throw new EditRefusedError(`There is a token called ${token.name} already.`)
      }
      if (all.length >= TOKENS_PER_TEAM_MAX) {
        throw new EditRefusedError(
          `The team has ${TOKENS_PER_TEAM_MAX} tokens, the most allowed here: delete one first.`,
        )
      }
      await keeper.create(token)
    },
    remove: (team, name) => keeper.remove(team, name),
  }
}
