import { reasonOf } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { LeaderSession } from '../engine/leader-session.ts'

export interface SealedSecretsParts {
  readonly engine: Pick<LeaderSession, 'write' | 'warn'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Secrets are sealed anew this often, because a Redis that is restored from a copy may bring some under a former key at
 * any time.
 */
export const SEAL_EVERY_MS = 300_000
export const RETRY_MS = 5_000
/** An Event names at most this many of those whose secrets cannot be opened. */
const NAMED_MAX = 5

/**
 * Seals anew what lies in Redis under a former key, first when this process begins to lead, so that a new key needs
 * nobody's Secret to be there. Says by an Event when no key opens some of it. Resolves after the signal.
 */
export async function keepSecretsSealed(parts: SealedSecretsParts, signal: AbortSignal): Promise<void> {
  const { engine, clock, logger } = parts
  let told = ''
  let isFailing = false
  while (!signal.aborted) {
    try {
      const { unopened } = await engine.write((compiler) => compiler.sealAnew())
      isFailing = false
      const note = noteOf(unopened)
      if (note !== '' && note !== told) {
        logger.error(note)
        engine.warn({ reason: 'SecretsUnreadable', action: 'SealSecrets', note })
      }
      told = note
    } catch (error) {
      const log = isFailing ? 'debug' : 'warn'
      isFailing = true
      logger[log]('Secrets under a former key cannot be sealed anew', { reason: reasonOf(error) })
    }
    await pause(clock, isFailing ? RETRY_MS : SEAL_EVERY_MS, signal)
  }
}

function noteOf(unopened: readonly string[]): string {
  if (unopened.length === 0) return ''
  const more = unopened.length - NAMED_MAX
  const names = [...unopened.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return `Secrets in Redis were sealed under a key that is not here, and calls that need them are not made: ${names}. Put that key back as PUNCTUAL_SECRETS_KEY or into PUNCTUAL_OTHER_SECRETS_KEYS; without it they come back once their Secrets are read again.`
}
