import { pause } from '../../domain/pause.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'

/** Longer than a new leader needs to apply the tokens it finds; an installation may have none. */
export const TOKEN_WAIT_MS = 10_000
const LOOK_AGAIN_MS = 100

/**
 * Waits until some token is in force: a port that opened before would refuse the first client of a new installation,
 * which has waited for nothing but this port. Resolves without one when the time is over or the signal aborts.
 */
export async function waitForToken(
  tokens: { hasTokens(): boolean },
  context: { readonly clock: Clock; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const { clock, logger, signal } = context
  const untilMs = clock.monotonicMs() + TOKEN_WAIT_MS
  while (!tokens.hasTokens() && !signal.aborted) {
    if (clock.monotonicMs() >= untilMs) {
      return logger.warn('No token is in force: every request is refused until an ApiToken is applied')
    }
    await pause(clock, LOOK_AGAIN_MS, signal)
  }
}
