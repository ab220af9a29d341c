import type { Scripts } from '../../../src/redis/steps.ts'
import { judge } from './oracle.ts'
import { drawPlan, type Plan } from './plan.ts'
import { Simulation } from './simulation.ts'

export interface SeedOutcome {
  readonly seed: number
  readonly problems: readonly string[]
  readonly events: number
  readonly kills: number
  /** Ticks of crons that were decided. */
  readonly ticks: number
}

/** Runs the story of one seed and judges it. */
export async function runSeed(
  seed: number,
  options: { onTrace?: (line: string) => void; scripts?: Scripts; plan?: Plan } = {},
): Promise<SeedOutcome> {
  const simulation = new Simulation({ plan: drawPlan(seed), ...options })
  const onRejection = (reason: unknown) =>
    simulation.complain(`a rejection was not handled: ${String(reason)}`)
  process.on('unhandledRejection', onRejection)
  try {
    await simulation.run()
    await judge(simulation)
  } catch (error) {
    simulation.complain(error instanceof Error ? (error.stack ?? error.message) : String(error))
  } finally {
    process.off('unhandledRejection', onRejection)
  }
  const { problems, scheduler, faults, ticks } = simulation
  return { seed, problems, events: scheduler.events, kills: faults.kills, ticks }
}

/** Prints the story. Answers the exit code. */
export async function replaySeed(seed: number, plan: Plan, print: (line: string) => void): Promise<number> {
  print(JSON.stringify({ ...plan, queues: Object.fromEntries(plan.queues), events: plan.events.length }))
  const { problems } = await runSeed(seed, { plan, onTrace: print })
  for (const problem of problems) print(problem)
  print(`seed ${seed}: ${problems.length} problems`)
  return problems.length > 0 ? 1 : 0
}
