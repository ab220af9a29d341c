import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import { reasonOf, StartupError } from '../../../domain/errors.ts'
import type { Logger } from '../../../ports/runtime.ts'

interface TlsPaths {
  readonly redisCa: string | null
  readonly redisCert: string | null
  readonly redisKey: string | null
}

/**
 * Makes the TLS context of connections to a `rediss://` server, from files that are read anew for each, as a
 * certificate may live for hours. If files cannot be read or do not fit together, the previous ones stay: a mounted
 * Secret may be swapped between two reads. Owns what was read last. The first read throws StartupError.
 */
export class TlsFiles {
  readonly #paths: TlsPaths
  readonly #logger: Pick<Logger, 'warn'>
  #texts: string
  #context: SecureContext
  #warned = ''

  constructor(paths: TlsPaths, logger: Pick<Logger, 'warn'>) {
    this.#paths = paths
    this.#logger = logger
    const texts = this.#read()
    this.#context = contextOf(texts)
    this.#texts = JSON.stringify(texts)
  }

  /** Never throws. */
  context(): SecureContext {
    try {
      const texts = this.#read()
      const text = JSON.stringify(texts)
      if (text !== this.#texts) {
        this.#context = contextOf(texts)
        this.#texts = text
      }
      this.#warned = ''
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== this.#warned) {
        this.#logger.warn('Certificates for Redis cannot be replaced; those of before stay', { reason })
      }
      this.#warned = reason
    }
    return this.#context
  }

  #read(): { readonly ca?: string; readonly cert?: string; readonly key?: string } {
    const { redisCa, redisCert, redisKey } = this.#paths
    return {
      ...(redisCa !== null && { ca: textOf('PUNCTUAL_REDIS_CA', redisCa) }),
      ...(redisCert !== null && { cert: textOf('PUNCTUAL_REDIS_CERT', redisCert) }),
      ...(redisKey !== null && { key: textOf('PUNCTUAL_REDIS_KEY', redisKey) }),
    }
  }
}

function contextOf(texts: Parameters<typeof createSecureContext>[0]): SecureContext {
  try {
    return createSecureContext(texts)
  } catch (error) {
    throw new StartupError(
      `PUNCTUAL_REDIS_CA, PUNCTUAL_REDIS_CERT or PUNCTUAL_REDIS_KEY holds no PEM, or the key is not that of the certificate: ${reasonOf(error)}.`,
      { cause: error },
    )
  }
}

function textOf(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new StartupError(`${variable} cannot be read: ${reasonOf(error)}.`, { cause: error })
  }
}
