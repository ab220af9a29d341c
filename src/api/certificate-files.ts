import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { reasonOf, StartupError } from '../domain/errors.ts'
import type { Clock, Logger } from '../ports/runtime.ts'

/** How often the files are looked at. A mounted Secret follows its object within about a minute anyway. */
const LOOK_MS = 10_000

/** PEM: the certificate with its chain, and its private key. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

export interface CertificateFilesOptions {
  readonly certFile: string
  readonly keyFile: string
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The certificate of the API in two files that others replace. Owns one timer.
 *
 *     read → followed (looks again every 10 s) → stopped
 *
 * Files that do not fit together are left alone, and the certificate of before stays: a mounted Secret may be swapped
 * between the two reads.
 */
export class CertificateFiles {
  readonly #options: CertificateFilesOptions
  #current: Certificate | null = null
  #warned = ''
  #cancel: (() => void) | null = null

  constructor(options: CertificateFilesOptions) {
    this.#options = options
  }

  /** @throws StartupError that names the file and what is wrong with it */
  read(): Certificate {
    const { certFile, keyFile } = this.#options
    const certificate = {
      cert: textOf('PUNCTUAL_TLS_CERT', certFile),
      key: textOf('PUNCTUAL_TLS_KEY', keyFile),
    }
    try {
      createSecureContext(certificate)
    } catch (error) {
      throw new StartupError(
        `PUNCTUAL_TLS_CERT and PUNCTUAL_TLS_KEY are not a certificate and its key: ${reasonOf(error)}.`,
        { cause: error },
      )
    }
    this.#current = certificate
    return certificate
  }

  /** Calls `use` with each new certificate until `stop`. */
  follow(use: (certificate: Certificate) => void): void {
    this.#cancel = this.#options.clock.after(LOOK_MS, () => {
      this.#look(use)
      this.follow(use)
    })
  }

  stop(): void {
    this.#cancel?.()
  }

  #look(use: (certificate: Certificate) => void): void {
    const { logger } = this.#options
    const before = this.#current
    try {
      const { cert, key } = this.read()
      this.#warned = ''
      if (cert === before?.cert && key === before.key) return
      use({ cert, key })
      logger.info('The certificate was replaced', { validTo: new X509Certificate(cert).validTo })
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== this.#warned)
        logger.warn('The new certificate cannot be used; the old one stays', { reason })
      this.#warned = reason
    }
  }
}

function textOf(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new StartupError(`${variable} cannot be read: ${reasonOf(error)}.`, { cause: error })
  }
}
