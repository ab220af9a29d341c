import { pause } from '../../domain/pause.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'

/** Longer than a new leader needs to apply the tokens it finds; an installation may have none. */
export const TOKEN_WAIT_MS = 10_000
const RETRY_MS = 100

/**
 * Waits until a token is applied: a port that opens earlier would refuse the first client of a new installation, which
 * has waited for nothing but this port. Resolves without one when the time is over or the signal aborts.
 */
export async function waitForToken(
  tokens: { hasTokens(): boolean },
  context: { readonly clock: Clock; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const { clock, logger, signal } = context
  const untilMs = clock.monotonicMs() + TOKEN_WAIT_MS
  while (!tokens.hasTokens() && !signal.aborted) {
    if (clock.monotonicMs() >= untilMs) {
      return logger.warn('No token is applied: every request is refused until there is an ApiToken')
    }
    await pause(clock, RETRY_MS, signal)
  }
}
