import type { Verdict } from '../checker/figures.ts'
import { sumOf } from '../checker/sum-of-verdicts.ts'
import { openStage } from './open-stage.ts'
import { play } from './play.ts'
import type { Scenario } from './scenario.ts'

/** A run of many times takes an hour. */
const TOLD_EVERY = 10

interface Playing {
  readonly seed: number
  /** How often the fault is played, one after the other. */
  readonly times: number
  /** Is told the sum of what was played so far. */
  onProgress(times: number, sum: Verdict): void
}

/**
 * Runs a scenario on an installation of its own and judges what came of it. Everything is stopped when it resolves.
 */
export async function runScenario(
  scenario: Scenario,
  { seed, times, onProgress }: Playing,
): Promise<Verdict> {
  if (times > 1 && !scenario.isRepeatable) throw new Error('it can be played only once')
  const stage = await openStage(scenario, seed)
  const verdicts = [await play(scenario, stage)]
  let brokeOff: readonly string[] = []
  while (verdicts.length < times && brokeOff.length === 0) {
    try {
      await stage.redis.settled()
      verdicts.push(await play(scenario, stage))
    } catch (error) {
      // What was played so far has its figures.
      brokeOff = [`broke off after ${verdicts.length} times: ${String(error)}`]
    }
    if (verdicts.length % TOLD_EVERY === 0) onProgress(verdicts.length, sumOf(verdicts))
  }
  const { figures, complaints } = sumOf(verdicts)
  const faults = await stage.here.close(scenario.expectation).then(
    () => [],
    (error: unknown) => [String(error)],
  )
  return { figures, complaints: [...complaints, ...brokeOff, ...faults] }
}
