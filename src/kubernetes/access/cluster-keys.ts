import { reasonOf } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { Transport } from '../client/transport.ts'
import { isSignedBy, type KeySet, readKeySet } from './key-set.ts'
import type { Jwt } from './jwt.ts'

const KEYS_PATH = '/openid/v1/jwks'
const DISCOVERY_PATH = '/.well-known/openid-configuration'
/** The API server sends the keys only to a client that accepts their own type. */
const ACCEPT = 'application/jwk-set+json, application/json'
/** The issuer of tokens that lie in Secrets, whatever the cluster's own issuer is. */
const LEGACY_ISSUER = 'kubernetes/serviceaccount'
/** A token waits this long for the keys, and is then judged without them. */
const READ_TIMEOUT_MS = 2_000
const ANSWER_BYTES_MAX = 128 * 1024
/** Two reads begin at least this far apart, so that tokens with made-up key ids do not make us ask all the time. */
export const READ_PAUSE_MS = 10_000
/** Keys this old are read again in the background. */
export const READ_AGAIN_MS = 5 * 60_000

/**
 * `genuine`: signed by the cluster; `forged`: it names a key of the cluster, which did not sign it; `open`: nobody but the
 * API server can tell, as of tokens of an OIDC provider.
 */
export type Origin = 'genuine' | 'forged' | 'open'

/**
 * Holds the keys by which the cluster signs the tokens of its service accounts. Owns the keys that were read and the
 * read under way. Keys count until others are read, for whether a token is still valid is asked of the API server
 * anyway.
 */
export class ClusterKeys {
  readonly #transport: Pick<Transport, 'request'>
  readonly #clock: Clock
  readonly #logger: Logger
  #keys: KeySet | null = null
  #issuer: string | null = null
  #reading: Promise<void> | null = null
  /** When the last read began, by the monotonic clock. */
  #startedAtMs = Number.NEGATIVE_INFINITY
  #isFailing = false

  constructor(parts: {
    readonly transport: Pick<Transport, 'request'>
    readonly clock: Clock
    readonly logger: Logger
  }) {
    this.#transport = parts.transport
    this.#clock = parts.clock
    this.#logger = parts.logger
  }

  /** Waits at most READ_TIMEOUT_MS for a key that is not known yet. Never throws. */
  async originOf(jwt: Jwt): Promise<Origin> {
    const ageMs = this.#clock.monotonicMs() - this.#startedAtMs
    if (this.#isMissing(jwt)) {
      const reading = this.#reading ?? (ageMs >= READ_PAUSE_MS ? this.#read() : null)
      // While the keys cannot be read, nobody waits for another try.
      if (!this.#isFailing) await reading
    } else if (ageMs >= READ_AGAIN_MS) void this.#read()
    return this.#judged(jwt)
  }

  #isMissing({ keyId, issuer }: Jwt): boolean {
    if (this.#keys === null) return true
    return keyId !== null && !this.#keys.has(keyId) && this.#isOurs(issuer)
  }

  #isOurs(issuer: string | null): boolean {
    return this.#issuer === null || issuer === this.#issuer || issuer === LEGACY_ISSUER
  }

  #judged(jwt: Jwt): Origin {
    const key = jwt.keyId === null ? undefined : this.#keys?.get(jwt.keyId)
    if (key === undefined) return 'open'
    if (isSignedBy(key, jwt)) return 'genuine'
    // Another issuer may have a key of the same id.
    return this.#isOurs(jwt.issuer) ? 'forged' : 'open'
  }

  #read(): Promise<void> {
    this.#startedAtMs = this.#clock.monotonicMs()
    this.#reading ??= this.#readNow().finally(() => (this.#reading = null))
    return this.#reading
  }

  /** Never throws. */
  async #readNow(): Promise<void> {
    const timeout = new AbortController()
    const cancel = this.#clock.after(READ_TIMEOUT_MS, () => timeout.abort())
    const get = (path: string): Promise<unknown> =>
      this.#transport.request<unknown>({
        method: 'GET',
        path,
        accept: ACCEPT,
        signal: timeout.signal,
        pool: 'review',
        answerBytesMax: ANSWER_BYTES_MAX,
      })
    try {
      const [keys, discovery] = await Promise.all([get(KEYS_PATH), get(DISCOVERY_PATH)])
      const { issuer } = { ...(discovery as { readonly issuer?: unknown } | null) }
      this.#keys = readKeySet(keys)
      this.#issuer = typeof issuer === 'string' ? issuer : null
      this.#isFailing = false
    } catch (error) {
      const reason = reasonOf(error)
      if (!this.#isFailing)
        this.#logger.warn('The keys that sign tokens of the cluster cannot be read', { reason })
      this.#isFailing = true
    } finally {
      cancel()
    }
  }
}
