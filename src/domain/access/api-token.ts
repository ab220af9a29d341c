import type { TokenTerms } from './token-terms.ts'

/** A token as its resource describes it: by its hash, never by the token itself. */
export interface ApiToken {
  readonly team: string
  /** `metadata.name`. */
  readonly name: string
  /** SHA-256 of the token's bytes, 64 lower-case hex digits. */
  readonly sha256Hex: string
  /** First characters of the token, for people; null = not known. */
  readonly prefix: string | null
  readonly description: string | null
  readonly terms: TokenTerms
}
