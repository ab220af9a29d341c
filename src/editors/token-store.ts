import { EditRefusedError } from '../domain/errors.ts'
import { TOKENS_PER_TEAM_MAX } from '../domain/limits.ts'
import type { ListedToken, TokenStore } from '../ports/access/tokens.ts'
import { refOf, type KubeObject, type ResourceStore } from '../ports/resource-store.ts'
import type { Clock } from '../ports/runtime.ts'
import type { ApiTokenSpec } from '../resources/generated/kinds.ts'
import { API_ORIGIN, ORIGIN_LABEL } from '../resources/queue-owner.ts'
import { specOfToken, tokenOfSpec } from '../resources/token-spec.ts'
import { notWatched, pollUntil, withinTimeout } from './resource-edit.ts'

interface TokenObject extends KubeObject {
  readonly spec: ApiTokenSpec
}

export interface TokenStoreOptions {
  readonly store: Pick<ResourceStore<TokenObject>, 'create' | 'read' | 'readAll' | 'remove'>
  /** Tells whether this process accepts the token by now. */
  readonly isAccepted: (team: string, name: string) => boolean
  readonly cursors: TokenCursors
  /** Tells whether we may write resources in this namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly clock: Clock
}

/** Makes and reads the cursors of a list of a team's tokens. */
export interface TokenCursors {
  format(team: string, position: string): string
  /** null = the cursor was not made for this list. */
  parse(team: string, cursor: string): string | null
}

/**
 * Keeps tokens as ApiTokens. Throws EditRefusedError with the words of the store, ResourceApiError when it is
 * unavailable.
 */
export function createTokenStore(options: TokenStoreOptions): TokenStore {
  const { store, isAccepted, cursors, isWatched, clock } = options

  async function all(team: string): Promise<readonly ListedToken[]> {
    if (!isWatched(team)) return []
    const found = await withinTimeout(clock, () => store.readAll(team))
    return found
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata, spec }) => tokenOfSpec(team, metadata.name, spec))
  }

  return {
    list: async ({ team, limit, cursor }) => {
      const after = cursor === null ? '' : cursors.parse(team, cursor)
      if (after === null) return 'bad_cursor'
      const later = (await all(team))
        .filter(({ name }) => name > after)
        .toSorted((left, right) => (left.name < right.name ? -1 : 1))
      const tokens = later.slice(0, limit)
      const last = later.length > limit ? tokens.at(-1) : undefined
      return { tokens, nextCursor: last === undefined ? null : cursors.format(team, last.name) }
    },
    get: async (team, name) => (await all(team)).find((token) => token.name === name) ?? null,
    create: async (token) => {
      const { team, name } = token
      const present = await all(team)
      if (present.some((one) => one.name === name)) {
        throw new EditRefusedError(`There is a token called ${name} already.`)
      }
      if (present.length >= TOKENS_PER_TEAM_MAX) {
        throw new EditRefusedError(
          `The team has ${TOKENS_PER_TEAM_MAX} tokens, the most allowed here: delete one first.`,
        )
      }
      if (!isWatched(team)) throw notWatched('Tokens', team)
      const metadata = { name, namespace: team, labels: { [ORIGIN_LABEL]: API_ORIGIN } }
      await withinTimeout(clock, () => store.create({ metadata, spec: specOfToken(token) }))
      await pollUntil(clock, () => Promise.resolve(isAccepted(team, name)))
    },
    remove: async (team, name) => {
      if (!isWatched(team)) throw notWatched('Tokens', team)
      const found = await withinTimeout(clock, () => store.read(team, name))
      if (found === null) return 'not_found'
      await withinTimeout(clock, () => store.remove(refOf(found)))
      await pollUntil(clock, () => Promise.resolve(!isAccepted(team, name)))
      return 'removed'
    },
  }
}
