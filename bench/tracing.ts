/**
 * What tracing costs: `node bench/tracing.ts [jobs a second] [seconds] [rounds]` runs two installations with tracing off,
 * one at 1 % and one at 100 % side by side, pushes the same jobs to each at the same pace, and tells the CPU of API and
 * executor for each job, and its ratio to the mean of the two without tracing at the same time: what else the machine
 * does falls on all alike. Two installations that do the same differ by up to 5 % for as long as they run, so each round
 * starts new ones, in another order. What the two without tracing differ by shows what the comparison is worth.
 * `BEFORE=<folder of another checkout>` runs that version beside them.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runMain } from './harness/main-run.ts'
import type { Target } from './harness/nginx-target.ts'
import type { Role } from './harness/roles.ts'
import { type Stand, withStand } from './harness/stand.ts'
import { pushSame } from './load/push-same.ts'
import { meanOf, spreadOf } from './report/statistics.ts'

const BEFORE = process.env['BEFORE'] ?? ''
const CONNECTIONS = 16
const WARM_SECONDS = 8
/** A backlog would be worked off in larger batches, which cost less for each job. */
const DONE_WITHIN_MS = 30_000
const US = 1_000_000

type Mode = 'before' | 'off' | 'off again' | '1 %' | '100 %'

const MODES: readonly Mode[] = [
  ...(BEFORE === '' ? [] : (['before'] as const)),
  'off',
  'off again',
  '1 %',
  '100 %',
]
/** Of each mode that has an endpoint: the share of traces that is recorded. */
const RATIOS: Partial<Record<Mode, string>> = { '1 %': '0.01', '100 %': '1' }

interface Place {
  readonly mode: Mode
  readonly target: Target
  readonly executor: Role
  readonly api: Role
}

/** Microseconds of CPU a job. */
type Costs = ReadonlyMap<Mode, number>

const [perSecond = '250', seconds = '15', rounds = '16'] = process.argv.slice(2)
await runMain(async () => {
  const sink = await startSink()
  const all: Costs[] = []
  for (let round = 0; round < Number(rounds); round += 1) {
    const turn = round % MODES.length
    const costs = await measure([...MODES.slice(turn), ...MODES.slice(0, turn)], sink.url)
    console.error(
      `round ${round + 1}: ${MODES.map((mode) => `${mode} ${costOf(costs, mode).toFixed(1)}`).join(', ')} µs`,
    )
    all.push(costs)
  }
  console.log(`posts taken by the tracing system: ${sink.posts()}`)
  console.log('| tracing | µs of CPU a job | ratio to off at the same time | within |')
  console.log('| --- | --- | --- | --- |')
  for (const mode of MODES) console.log(rowOf(mode, all))
})

/** A tracing system that takes everything and keeps nothing. */
async function startSink() {
  let posts = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      posts += 1
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, posts: () => posts }
}

/** Runs a new installation for each mode, all at the same time. */
async function measure(modes: readonly Mode[], endpoint: string): Promise<Costs> {
  const costs = new Map<Mode, number>()
  await withPlaces(modes, endpoint, async (places) => {
    await Promise.all(places.map((place) => load(place, WARM_SECONDS)))
    await Promise.all(
      places.map(async (place) => void costs.set(place.mode, await load(place, Number(seconds)))),
    )
  })
  return costs
}

/** Starts an installation for each mode, one inside the other, so that all end whatever happens. */
async function withPlaces(
  [mode, ...others]: readonly Mode[],
  endpoint: string,
  use: (places: readonly Place[]) => Promise<void>,
): Promise<void> {
  if (mode === undefined) return use([])
  await withStand(async (stand) => {
    const place = await startPlace(stand, mode, endpoint)
    await withPlaces(others, endpoint, (rest) => use([place, ...rest]))
  })
}

async function startPlace(stand: Stand, mode: Mode, endpoint: string): Promise<Place> {
  const ratio = RATIOS[mode]
  const traced = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: ratio ?? '0',
  }
  const more = {
    env: ratio === undefined ? {} : traced,
    ...(mode === 'before' && { main: join(BEFORE, 'src/main.ts') }),
  }
  const target = await stand.startTarget()
  const [executor, api] = [await stand.start('executor', more), await stand.start('api', more)]
  await api.untilReady()
  return { mode, target, executor, api }
}

/** Microseconds of CPU of API and executor for each job. */
async function load({ target, executor, api }: Place, long: number): Promise<number> {
  const cpu = (): number => executor.program.cpuSeconds() + api.program.cpuSeconds()
  const [before, called] = [cpu(), await target.count()]
  const body = JSON.stringify({ queue: 'bench', url: target.url, payload: { order: 7 } })
  const { accepted } = await pushSame(api, {
    perSecond: Number(perSecond),
    connections: CONNECTIONS,
    seconds: long,
    body,
  })
  await target.watch(called, accepted.count, DONE_WITHIN_MS)
  return ((cpu() - before) / accepted.count) * US
}

function rowOf(mode: Mode, all: readonly Costs[]): string {
  const cost = spreadOf(all.map((costs) => costOf(costs, mode)))
  const ratio = meanOf(
    all.map((costs) => (costOf(costs, mode) * 2) / (costOf(costs, 'off') + costOf(costs, 'off again'))),
  )
  const { median, min, max } = cost
  const within = `${(ratio.mean - ratio.error * 2).toFixed(3)}–${(ratio.mean + ratio.error * 2).toFixed(3)}`
  return `| ${mode} | ${median.toFixed(0)} (${min.toFixed(0)}–${max.toFixed(0)}) | ${ratio.mean.toFixed(3)} | ${within} |`
}

function costOf(costs: Costs, mode: Mode): number {
  return costs.get(mode) ?? NaN
}
