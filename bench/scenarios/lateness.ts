import type { Contender, Stand } from '../contenders/contender.ts'
import { runPushPlan } from '../harness/load.ts'
import type { Target } from '../harness/nginx-target.ts'
import { pacesOf, type Paces } from '../load/paces.ts'
import type { FigureName } from '../report/figures.ts'
import { percentile, spreadOf } from '../report/statistics.ts'
import { workOptions } from './life.ts'
import { attempt, contendersOf, isRepeated, turnsOf, withStand, type Bench } from './scenario.ts'

/** Long enough that every push is accepted before its time, even on a busy machine. */
const LEAD_MS = 2_000
const WARM_UP_SECONDS = 1
const CONNECTIONS = 64
const SETTLE_WITHIN_MS = 60_000

/** What came of pushes at a pace. */
interface Seen {
  /** Arrival at the target − due time, in ms. */
  readonly lateness: readonly number[]
  /** Pushes that were accepted only past their due time, which is then not theirs any more. */
  readonly acceptedLate: number
}

/** What a contender's lateness cannot say, over all runs. */
interface Tally {
  runs: number
  calls: number
  early: number
  acceptedLate: number
}

/** Arrival at the target − due time: at half of the contender's own end-to-end rate, and at one rate for all. */
export async function measureLateness(bench: Bench): Promise<void> {
  const rates = bench.contenders.flatMap(({ name }) => {
    const values = bench.measured.valuesOf('end_to_end_jobs_per_second', name)
    return values.length === 0 ? [] : [[name, spreadOf(values).median] as const]
  })
  const paces = pacesOf(new Map(rates))
  if (paces === null) {
    bench.skipped.push('lateness: its rates are those of the scenario life')
    return
  }
  bench.facts.paces = paces
  const contenders = contendersOf(bench, 'lateness').filter(
    (contender) => contender.name in paces.own && isRepeated(bench, contender),
  )
  const tallies = new Map<string, Tally>()
  for (const { contender } of turnsOf(bench, 'lateness', contenders)) {
    await attempt(bench, 'lateness', contender, () =>
      withStand(bench, contender, async (stand, target) => {
        const seen = await measureAtBothPaces(bench, contender, { stand, target, paces })
        countUp(tallies, contender, seen)
      }),
    )
  }
  for (const [name, tally] of tallies) bench.notes.push(noteOf(name, tally))
}

/** The slowest contender's own pace is the equal one, so one measurement is both. */
async function measureAtBothPaces(
  bench: Bench,
  contender: Contender,
  { stand, target, paces }: { stand: Stand; target: Target; paces: Paces },
): Promise<Seen[]> {
  const own = paces.own[contender.name] ?? paces.equal
  const { latenessSeconds: seconds } = bench.sizes
  await stand.startWork(workOptions(bench, contender))
  await stand.startIntake()
  await arrivalsAt(stand, target, { perSecond: own, seconds: WARM_UP_SECONDS })
  const atOwn = await arrivalsAt(stand, target, { perSecond: own, seconds })
  const isSlowest = own === paces.equal
  const atEqual = isSlowest ? atOwn : await arrivalsAt(stand, target, { perSecond: paces.equal, seconds })
  const add = (name: FigureName, lateness: readonly number[], share: number): void => {
    // A call before its time is as wrong as one after it: else the earliest would be the best.
    bench.measured.add(name, contender.name, percentile(lateness.map(Math.abs), share))
  }
  add('lateness_p50_ms', atOwn.lateness, 0.5)
  add('lateness_p99_ms', atOwn.lateness, 0.99)
  add('lateness_equal_p50_ms', atEqual.lateness, 0.5)
  add('lateness_equal_p99_ms', atEqual.lateness, 0.99)
  return isSlowest ? [atOwn] : [atOwn, atEqual]
}

/** Pushes at a pace and takes down when each call arrived. */
async function arrivalsAt(
  stand: Stand,
  target: Target,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Seen> {
  const count = perSecond * seconds
  const before = await target.count()
  const plan = stand.pacedPlan(new URL(target.url).origin)
  const pace = { queues: 1, connections: CONNECTIONS, dueInMs: LEAD_MS, count, perSecond }
  const { acceptedLate } = await runPushPlan({ ...plan, ...pace }, seconds * 1000 + SETTLE_WITHIN_MS)
  await target.watch(before, count, SETTLE_WITHIN_MS)
  const arrivals = await target.takeArrivals()
  return { lateness: arrivals.map(({ dueMs, arrivedMs }) => arrivedMs - dueMs), acceptedLate }
}

function countUp(tallies: Map<string, Tally>, { name }: Contender, seen: readonly Seen[]): void {
  const tally = tallies.get(name) ?? { runs: 0, calls: 0, early: 0, acceptedLate: 0 }
  tallies.set(name, tally)
  tally.runs += 1
  for (const { lateness, acceptedLate } of seen) {
    tally.calls += lateness.length
    tally.early += lateness.filter((ms) => ms < 0).length
    tally.acceptedLate += acceptedLate
  }
}

function noteOf(name: string, { runs, calls, early, acceptedLate }: Tally): string {
  return `lateness, ${name}: ${calls} calls in ${runs} runs, ${early} before their time; ${acceptedLate} pushes accepted only after theirs`
}
