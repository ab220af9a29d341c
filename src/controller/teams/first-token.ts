import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ResourceWriter } from '../../ports/kubernetes.ts'
import { refOf, type ApiToken } from '../kinds.ts'
import { pause } from '../../domain/pause.ts'

/** The name of the ApiToken of the first token. */
export const FIRST_TOKEN_NAME = 'first-token'

const RETRY_MS = 1_000
const RETRY_MS_MAX = 30_000

export interface FirstTokenOptions {
  /** The SHA-256 of the token in hex. */
  readonly sha256: string
  readonly namespace: string
  readonly writer: Pick<ResourceWriter<ApiToken>, 'read' | 'create' | 'patchSpec'>
  readonly clock: Clock
  readonly logger: Logger
}

/** The team of the first token: the controller's own namespace, or the first watched one if that is not watched. */
export function firstTokenNamespace(own: string, watched: readonly string[] | null): string {
  return watched === null || watched.includes(own) ? own : (watched[0] ?? own)
}

/**
 * Creates or updates the ApiToken of the installation's first token. The leader does this and not the installer,
 * because the API server serves a new kind only some moments after its CRD. Retries until the signal. Never throws.
 */
export async function keepFirstToken(options: FirstTokenOptions, signal: AbortSignal): Promise<void> {
  let retryMs = RETRY_MS
  while (!signal.aborted) {
    try {
      return await keepOnce(options)
    } catch (error) {
      const askedMs = error instanceof ResourceApiError ? (error.retryAfterMs ?? 0) : 0
      options.logger.warn('The ApiToken of the first token could not be written; trying again', {
        reason: reasonOf(error),
      })
      await pause(options.clock, Math.min(Math.max(retryMs, askedMs), RETRY_MS_MAX), signal)
      retryMs = Math.min(2 * retryMs, RETRY_MS_MAX)
    }
  }
}

async function keepOnce({ sha256, namespace, writer, logger }: FirstTokenOptions): Promise<void> {
  const found = await writer.read(namespace, FIRST_TOKEN_NAME)
  if (found?.spec.sha256 === sha256) return
  if (found === null) {
    const metadata = { name: FIRST_TOKEN_NAME, namespace }
    await writer.create({ metadata, spec: { sha256, description: 'The first token, made at installation.' } })
  } else {
    await writer.patchSpec(refOf(found), { sha256 }, found.metadata.resourceVersion)
  }
  logger.info('The ApiToken of the first token was written', { namespace, name: FIRST_TOKEN_NAME })
}
