import type { ApiToken } from '../../domain/access/api-token.ts'
import type { Principal } from '../../domain/access/principal.ts'

/** A token as lists show it. */
export type ListedToken = Omit<ApiToken, 'sha256Hex'>

/** The tokens of a team as users see them. Every method throws EditRefusedError and ResourceApiError. */
export interface TokenStore {
  /** Sorted by name. `bad_cursor` when this list did not make the cursor. */
  list(query: {
    readonly team: string
    readonly limit: number
    readonly cursor: string | null
  }): Promise<{ readonly tokens: readonly ListedToken[]; readonly nextCursor: string | null } | 'bad_cursor'>
  get(team: string, name: string): Promise<ListedToken | null>
  /** Answered once it is in force, or after 2 s. Refuses a name in use, and more than TOKENS_PER_TEAM_MAX. */
  create(token: ApiToken): Promise<void>
  /** Answers and throws like `create`. */
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
}

/** Knows when tokens were last used, to the minute. */
export interface TokenUses {
  /** Never throws or waits. */
  note(principal: Principal, nowMs: number): void
  /** Unix ms, in the order of the names; null = never. Throws StoreUnavailableError. */
  lastUsed(team: string, names: readonly string[]): Promise<ReadonlyArray<number | null>>
}
