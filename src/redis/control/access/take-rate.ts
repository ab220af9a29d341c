import type { RateLimit } from '../../../domain/access/token-terms.ts'
import { shardOfQueue, type Engine } from '../../base/engine/engine.ts'
import { nameField } from '../../base/layout/keys.ts'
import { step } from '../../base/engine/step.ts'

export const TAKE_RATE = step('take_rate', import.meta.url, {
  keys: ['rate'],
  args: ['intervalUs', 'burst', 'wanted'],
})

export interface TakenRate {
  readonly taken: number
  /** Requests that could still be taken. */
  readonly left: number
  /** Time until one can be taken; 0 = now. */
  readonly waitMs: number
  /** Time until a whole burst can be taken. */
  readonly fullMs: number
}

/** Takes up to `wanted` requests of a token. Throws StoreUnavailableError. */
export async function takeRate(
  engine: Engine,
  token: { readonly team: string; readonly name: string },
  { requestsPerSecond, burst, wanted }: RateLimit & { readonly wanted: number },
): Promise<TakenRate> {
  // Any shard will do, if it is always the same one.
  const rate = shardOfQueue(engine, token.team, token.name).tokenRate(nameField(token.team, token.name))
  const call = TAKE_RATE.with({ rate, intervalUs: 1_000_000 / requestsPerSecond, burst, wanted })
  const [taken = 0, left = 0, waitUs = 0, fullUs = 0] = (await engine.runner.run(call)) as number[]
  return { taken, left, waitMs: waitUs / 1_000, fullMs: fullUs / 1_000 }
}
