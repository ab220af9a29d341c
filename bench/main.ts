/**
 * `make bench`: Punctual beside what people would take instead, on this machine. QUICK=1 takes at most three minutes,
 * SMOKE=1 only proves that all of it works; ONLY=life,memory picks scenarios, PEERS=bullmq,asynq picks peers. Load goes to 127.0.0.1 alone.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPeers, PEER_NAMES } from './contenders/peers.ts'
import { punctual } from './contenders/punctual.ts'
import { BenchError, messageOf } from './harness/bench-error.ts'
import { POSTGRES_SETTINGS } from './harness/postgres-server.ts'
import { newFolder, runMain } from './harness/main-run.ts'
import { requirePrograms } from './harness/requirements.ts'
import { describeCommit, describeMachine } from './machine.ts'
import { Measurements } from './report/figures.ts'
import { renderMeasured, withMeasured } from './report/performance-page.ts'
import { renderResults, type Results, type RunNotes } from './report/results.ts'
import { measureAllocations } from './scenarios/allocations.ts'
import { measureBatches } from './scenarios/batches.ts'
import { measureCeilings } from './scenarios/ceilings.ts'
import { measureIdleQueues } from './scenarios/idle-queues.ts'
import { measureLateness } from './scenarios/lateness.ts'
import { measureLife } from './scenarios/life.ts'
import { measureLimitedQueues } from './scenarios/limited-queues.ts'
import { measureMemory } from './scenarios/memory.ts'
import { measureOpenCalls } from './scenarios/open-calls.ts'
import { measureProfile } from './scenarios/profile.ts'
import { measureRecovery } from './scenarios/recovery.ts'
import type { Bench } from './scenarios/scenario.ts'
import { tuneContenders } from './scenarios/tuning.ts'
import { QUEUE_LIMIT, sizesOf } from './sizes.ts'

const ROOT = join(import.meta.dirname, '..')
const RESULTS = join(import.meta.dirname, 'results')
const PAGE = join(ROOT, 'docs/performance.md')
const isSet = (name: string): boolean => !['', '0', 'false', undefined].includes(process.env[name])

/** These need the cores for themselves. Lateness needs the life's rates. */
const FOR_THE_CORES = {
  life: measureLife,
  batches: measureBatches,
  limited: measureLimitedQueues,
  lateness: measureLateness,
  allocations: measureAllocations,
  profile: measureProfile,
  ceilings: measureCeilings,
} as const
/** These count bytes and commands; a quick run does them side by side. */
const FOR_THE_COUNT = {
  memory: measureMemory,
  idle: measureIdleQueues,
  calls: measureOpenCalls,
} as const
const ALL = [...Object.keys(FOR_THE_CORES), ...Object.keys(FOR_THE_COUNT), 'recovery']

await runMain(main)

async function main(): Promise<void> {
  if (!existsSync(join(ROOT, 'dist/main.js'))) throw new BenchError('dist/ is not built: run make bench')
  requirePrograms(say)
  const bench = await prepare(newFolder())
  await runScenarios(bench)
  write(bench, Math.round((performance.now() - bench.startedMs) / 6_000) / 10)
}

async function prepare(folder: string): Promise<Bench> {
  const sizes = sizesOf(isSet('SMOKE') ? 'smoke' : isSet('QUICK') ? 'quick' : 'full')
  const wanted = process.env['PEERS']?.split(',').filter((name) => name !== '') ?? sizes.peers ?? PEER_NAMES
  const { peers, skipped } = await findPeers(wanted, say)
  return {
    sizes,
    folder,
    measured: new Measurements(),
    contenders: [punctual, ...peers],
    concurrencyOf: new Map(),
    facts: { ceilings: [], paces: null, breakdowns: [] },
    notes: [],
    skipped: [...skipped, ...leftOut(wanted)],
    startedMs: performance.now(),
    say,
  }
}

function leftOut(wanted: readonly string[]): string[] {
  const others = PEER_NAMES.filter((name) => !wanted.includes(name))
  return others.length === 0 ? [] : [`left out of this run: ${others.join(', ')}`]
}

async function runScenarios(bench: Bench): Promise<void> {
  const only = process.env['ONLY']?.split(',').filter((name) => name !== '') ?? []
  const isWanted = (name: string): boolean => only.length === 0 || only.includes(name)
  const chosen = (scenarios: Readonly<Record<string, (bench: Bench) => Promise<void>>>) =>
    Object.entries(scenarios).filter(([name]) => isWanted(name))
  for (const name of only) if (!ALL.includes(name)) throw new BenchError(`ONLY knows ${ALL.join(', ')}`)

  await tuneContenders(bench)
  const { isOverlapping } = bench.sizes
  // Recovery is a minute of waiting, so a quick run lets it wait beside the rest.
  const recovery = isWanted('recovery') && isOverlapping ? measureRecovery(bench) : Promise.resolve()
  for (const [, measure] of chosen(FOR_THE_CORES)) await measure(bench)
  const counting = chosen(FOR_THE_COUNT).map(([, measure]) => measure)
  if (isOverlapping) await Promise.all([recovery, ...counting.map((measure) => measure(bench))])
  else for (const measure of counting) await measure(bench)
  if (isWanted('recovery') && !isOverlapping) await measureRecovery(bench)
}

function write(bench: Bench, minutes: number): void {
  const { sizes } = bench
  const results: Results = {
    machine: describeMachine(),
    commit: describeCommit(ROOT),
    figures: bench.measured.figures(),
  }
  const notes: RunNotes = {
    command: sizes.label === 'full' ? 'make bench' : `make bench ${sizes.label.toUpperCase()}=1`,
    finished_at: new Date().toISOString(),
    minutes,
    runs: sizes.runs,
    settings: settingsOf(bench),
    ...bench.facts,
    peers: bench.contenders.flatMap(({ name, comparison }) =>
      comparison === null ? [] : [{ name, ...comparison }],
    ),
    notes: bench.notes,
    skipped: bench.skipped,
  }
  const measured = renderMeasured(results, notes)
  say(`\n${measured}`)
  // A smoke run or a part of one is not a result.
  const isResult = sizes.label !== 'smoke' && !isSet('ONLY') && !('PEERS' in process.env)
  if (!isResult) return say('not written: only a whole run is a result')
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, 'latest.json'), renderResults(results))
  writeFileSync(join(RESULTS, 'run.json'), `${JSON.stringify(notes, null, 2)}\n`)
  try {
    writeFileSync(PAGE, withMeasured(readFileSync(PAGE, 'utf8'), measured))
  } catch (error) {
    say(`docs/performance.md was not written: ${messageOf(error)}`)
  }
}

function settingsOf({ sizes, concurrencyOf }: Bench): RunNotes['settings'] {
  return {
    'Redis (one of its own a run)': 'AOF everysec, noeviction, no snapshots',
    'PostgreSQL (one of its own a run)': Object.entries(POSTGRES_SETTINGS)
      .map((setting) => setting.join('='))
      .join(', '),
    'submitted JSON': '152 B',
    ...Object.fromEntries([...concurrencyOf].map(([name, value]) => [`calls at once, ${name}`, value])),
    'seconds of pushes (taking in / end to end)': `${sizes.acceptSeconds} / ${sizes.endToEndSeconds}`,
    'limited queues, limit each': `${sizes.limitedQueues}, ${QUEUE_LIMIT}`,
    'jobs over the limited queues': sizes.limitedJobs,
    'jobs for memory': sizes.memoryJobs,
    'idle queues': sizes.idleQueues,
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
