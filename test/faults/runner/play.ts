import { setTimeout as sleep } from 'node:timers/promises'
import type { Arrival } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'
import { readAlertCounts, type AlertCounts } from '../checker/alert-counts.ts'
import { readChainEnds } from '../checker/chain-ends.ts'
import { NOTHING_ALLOWED, type Verdict } from '../checker/figures.ts'
import { judge, TOLD_WITHIN_MS, type CronTicks, type Forgotten, type Told } from '../checker/judge.ts'
import { readTicks, TICKS_PATH, ticksBetween } from '../load/crons.ts'
import type { Load } from '../load/load.ts'
import { ALARMED_QUEUE, CALLBACK_PATH, LIMITED_QUEUE, PUSH_HEADER } from '../load/push-mix.ts'
import type { OpenStage } from './open-stage.ts'
import type { Scenario } from './scenario.ts'

/** Pushes accepted before a fault, and after it. */
const WARM_PUSHES = 200
/** Jobs of executors that are dead or frozen wait for the end of a lease. */
const REST_MS = 60_000
/** An executor that ticks may have died. */
const TICKS_MS = 30_000
/** Callbacks follow the ends of their chains at once, but for one whose executor died. */
const CALLBACKS_MS = 30_000
export const TOLD_OF_LOSS = 'Redis came back with less than it had answered'

/** Loads the stage, plays the fault, waits until all is at rest, and judges. @param loadMs how long the load lasts, at least */
export async function play(scenario: Scenario, stage: OpenStage, loadMs = 0): Promise<Verdict> {
  const { here, newLoad } = stage
  const alertsBefore = await readAlertCounts(here.client, ALARMED_QUEUE)
  const sinceMs = Date.now()
  const load = newLoad()
  await load.accepts(WARM_PUSHES)
  const forgotten = (await scenario.fault({ ...stage, load })) ?? null
  await load.accepts(WARM_PUSHES)
  await sleep(Math.max(0, sinceMs + loadMs - Date.now()))
  await load.stop()
  const verdict = await judgeAtRest(scenario, { ...stage, load, forgotten, sinceMs, alertsBefore })
  here.target.forget()
  return verdict
}

interface Played extends Pick<OpenStage, 'here' | 'cronIds'> {
  readonly load: Load
  readonly forgotten: Forgotten | null
  readonly sinceMs: number
  readonly alertsBefore: AlertCounts
}

async function judgeAtRest(
  { allowed }: Pick<Scenario, 'allowed'>,
  { here, cronIds, load: { records }, forgotten, sinceMs, alertsBefore }: Played,
): Promise<Verdict> {
  const ticks = ticksBetween(sinceMs, Date.now())
  // A former primary may serve whoever has not noticed for ten seconds more, and forgets all of it then.
  if (forgotten !== null) await sleep(Math.max(0, forgotten.toMs + TOLD_WITHIN_MS - Date.now()))
  const accepted = records.filter(({ status }) => status === 201)
  const ends = await readChainEnds(here.client, accepted, REST_MS)
  const reported = accepted.filter(({ draw }) => draw.isCalledBack && ends.has(draw.n)).length
  const callbacks = () => here.target.arrivals(CALLBACK_PATH)
  // What is missing is the checker's to tell.
  await until('the callbacks', () => callbacks().length >= reported, CALLBACKS_MS).catch(() => undefined)
  const findings = await here.inspectAtRest(REST_MS).catch((error: unknown) => [String(error)])
  const ticked = await tickedOf(here, { cronIds, sinceMs, ticks })
  const alerts = await readAlertCounts(here.client, ALARMED_QUEUE)
  const evidence = {
    records,
    arrivals: here.target.arrivals().filter(isOfLoad),
    ends,
    mostLimited: here.target.mostOpen(`/${LIMITED_QUEUE}`),
    findings,
    forgotten,
    told: toldIn(here).filter(({ atMs }) => atMs >= sinceMs),
    ticks: { due: ticks, ticked },
    alerts: {
      warning: alerts.warning - alertsBefore.warning,
      failure: alerts.failure - alertsBefore.failure,
    },
  }
  return judge(evidence, { ...NOTHING_ALLOWED, ...allowed })
}

interface TickView {
  readonly cronIds: readonly number[]
  readonly sinceMs: number
  readonly ticks: readonly number[]
}

/** The ticks of each cron that had a run, and the calls of these, once all that were due are there or the time is over. */
async function tickedOf(
  { client, target }: OpenStage['here'],
  { cronIds, sinceMs, ticks }: TickView,
): Promise<CronTicks[]> {
  const read = () =>
    Promise.all(
      cronIds.map(async (id, at) => ({
        runs: await readTicks(client, id, sinceMs),
        calls: target.arrivals(`${TICKS_PATH}/${at}`).filter(({ arrivedAtMs }) => arrivedAtMs >= sinceMs)
          .length,
      })),
    )
  let last = await read()
  const areThere = async () => {
    last = await read()
    return last.every(({ runs, calls }) => calls >= runs.length && ticks.every((tick) => runs.includes(tick)))
  }
  // What is missing is the checker's to tell.
  await until('the ticks', areThere, TICKS_MS).catch(() => undefined)
  return last
}

/** A fault may push jobs of its own, and judges them itself. */
function isOfLoad({ path, headers }: Arrival): boolean {
  return path === CALLBACK_PATH || PUSH_HEADER in headers
}

function toldIn({ programs }: OpenStage['here']): Told[] {
  const lines = programs.flatMap(({ log }) => log).filter(({ msg }) => msg === TOLD_OF_LOSS)
  return lines.map((line) => ({ atMs: Date.parse(String(line['time'])), jobs: Number(line['jobs']) }))
}
