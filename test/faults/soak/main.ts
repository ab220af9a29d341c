/**
 * `make soak HOURS=8`: one installation for hours, at a fixed pace, and a fault that a seed draws each minute. Prints a line
 * of JSON for each. `SEED=…` draws the same faults again. Fails if a checker has complained, if a key is left that nothing
 * explains, or if a process has grown.
 */
import { readFileSync } from 'node:fs'
import { endLeftBehind, prepareWorker } from '../../support/servers/worker-processes.ts'
import type { Verdict } from '../checker/figures.ts'
import { growthOf } from '../checker/flatness.ts'
import { sumOf } from '../checker/sum-of-verdicts.ts'
import { openStage, type OpenStage } from '../runner/open-stage.ts'
import { play } from '../runner/play.ts'
import { isOnSingleRedis, type Scenario } from '../runner/scenario.ts'
import { SCENARIOS } from '../scenarios/all.ts'
import { COLLECTABLE, collectGarbage, wordsOf, type HeldBytes } from './collect-garbage.ts'

/** With the rest behind it, about a minute. */
const LOAD_MS = 45_000
const MIB = 1024 ** 2
const { HOURS: givenHours = '1', SEED: givenSeed } = process.env

interface Sample {
  /** Of each process of a role, in MiB. */
  readonly rss: Readonly<Record<string, number>>
  /** The live objects in its heap, in MiB: what grows here is kept by the program, and not by its allocator. */
  readonly heap: Readonly<Record<string, number>>
  /** What those hold outside of the heap, in MiB. */
  readonly external: Readonly<Record<string, number>>
  readonly redisMiB: number
  readonly redisKeys: number
}

prepareWorker()
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
process.exit(await main())

async function main(): Promise<number> {
  const seed = givenSeed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(givenSeed)
  const chosen = SCENARIOS.filter((one) => one.isRepeatable && isOnSingleRedis(one))
  const [first] = chosen
  if (first === undefined) throw new Error('no scenario may be repeated')
  say({ seed, hours: Number(givenHours), faults: chosen.map(({ name }) => name) })
  const stage = await openStage({ ...first, options: { env: COLLECTABLE } }, seed)
  const { complaints, figures } = await soak(stage, chosen)
  say({ figures, complaints })
  endLeftBehind()
  return complaints.length === 0 ? 0 : 1
}

/** Plays until the time is over, and stops the stage. */
async function soak(stage: OpenStage, scenarios: readonly Scenario[]): Promise<Verdict> {
  const untilMs = performance.now() + Number(givenHours) * 3_600_000
  const samples: Sample[] = []
  let sum: Verdict | null = null
  while (performance.now() < untilMs) {
    const scenario = stage.random.pick(scenarios)
    const verdict = await play(scenario, stage, LOAD_MS)
    sum = sumOf(sum === null ? [verdict] : [sum, verdict])
    const sample = await sampleOf(stage)
    samples.push(sample)
    const { accepted, lost, told, doubled } = sum.figures
    const { complaints } = verdict
    say({
      at: new Date().toISOString(),
      fault: scenario.name,
      accepted,
      lost,
      told,
      doubled,
      ...sample,
      complaints,
    })
  }
  const errors = scenarios.flatMap(({ expectation }) => expectation.errors ?? [])
  const faults = await stage.here.close({ errors, errorLines: wordsOf(stage.here.programs) }).then(
    () => [],
    (error: unknown) => [String(error)],
  )
  if (sum === null) throw new Error('HOURS is too little for one fault')
  return { ...sum, complaints: [...sum.complaints, ...growth(samples), ...faults] }
}

/**
 * Roles alone are judged: Redis keeps the results of a day, idempotency keys among them, so it grows for a day whatever the
 * program does. That all it holds is explained is the inspection's to say.
 */
function growth(samples: readonly Sample[]): string[] {
  const names = Object.keys(samples[0]?.rss ?? {})
  return names.flatMap(
    (name) =>
      growthOf(
        name,
        samples.map(({ rss }) => rss[name] ?? 0),
      ) ?? [],
  )
}

async function sampleOf({ here, redis }: OpenStage): Promise<Sample> {
  const programs = [
    ['api', here.api.program] as const,
    ...here.executors.map((one, at) => [`executor-${at}`, one] as const),
  ]
  const running = programs.filter(([, program]) => program.isRunning())
  // All is at rest: what a process holds now is what it keeps.
  const held: Array<readonly [string, HeldBytes]> = []
  for (const [name, program] of running) held.push([name, await collectGarbage(program)])
  const [server] = await redis.primaries()
  const memory = (await server?.info('memory')) ?? ''
  return {
    rss: Object.fromEntries(running.map(([name, { pid }]) => [name, rssMiB(pid)])),
    heap: Object.fromEntries(held.map(([name, { heapUsed }]) => [name, inTenths(heapUsed / MIB)])),
    external: Object.fromEntries(held.map(([name, { external }]) => [name, inTenths(external / MIB)])),
    redisMiB: inTenths(Number(/used_memory:(\d+)/.exec(memory)?.[1]) / MIB),
    redisKeys: (await server?.dbsize()) ?? 0,
  }
}

function rssMiB(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return inTenths(Number(kib) / 1024)
}

function inTenths(value: number): number {
  return Math.round(value * 10) / 10
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
