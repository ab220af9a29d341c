import type { Verdict } from '../checker/figures.ts'
import { sumOf } from '../checker/sum-of-verdicts.ts'
import { openStage, type OpenStage } from './open-stage.ts'
import { play } from './play.ts'
import type { Scenario } from './scenario.ts'

/** Lines of a process that say what it was about. */
const LAST_LINES = 8
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
      const state = await stateOf(stage)
      brokeOff = [`broke off after ${verdicts.length} times: ${String(error)}`, ...state]
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

/** What is known of an installation that does not go on: its primaries, and what its processes have said last. */
async function stateOf({ redis, here }: OpenStage): Promise<string[]> {
  const primaries = await redis.primaries().then(
    (clients) => clients.map(({ options: { port } }) => port).join(', '),
    (error: unknown) => String(error),
  )
  const lines = here.programs
    .filter((program) => program.isRunning())
    .flatMap(({ pid, log }) =>
      log.slice(-LAST_LINES).map((line) => `process ${pid} said ${JSON.stringify(line)}`),
    )
  return [`primary: ${primaries}`, ...lines]
}
