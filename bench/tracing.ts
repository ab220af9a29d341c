/**
 * What tracing costs: `node bench/tracing.ts [jobs a second] [seconds] [rounds]` runs an installation with tracing off, one
 * at 1 % and one at 100 % side by side, pushes the same jobs to each at the same pace, and tells the CPU of API and
 * executor for each job, and its ratio to that without tracing at the same time: what else the machine does falls on all
 * alike. `BEFORE=<folder of another checkout>` runs that version beside them.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runMain } from './harness/main-run.ts'
import type { Target } from './harness/nginx-target.ts'
import type { Role } from './harness/roles.ts'
import { type Stand, withStand } from './harness/stand.ts'
import { pushSame } from './load/push-same.ts'
import { spreadOf } from './report/statistics.ts'

const BEFORE = process.env['BEFORE'] ?? ''
const CONNECTIONS = 16
const WARM_SECONDS = 10
/** A backlog would be worked off in larger batches, which cost less for each job. */
const DONE_WITHIN_MS = 30_000
const US = 1_000_000

type Mode = 'before' | 'off' | '1 %' | '100 %'

const MODES: readonly Mode[] = [...(BEFORE === '' ? [] : (['before'] as const)), 'off', '1 %', '100 %']
const RATIOS: Readonly<Record<Mode, string | null>> = { before: null, off: null, '1 %': '0.01', '100 %': '1' }

interface Place {
  readonly mode: Mode
  readonly target: Target
  readonly executor: Role
  readonly api: Role
}

const [perSecond = '500', seconds = '15', rounds = '7'] = process.argv.slice(2)
await runMain(async () => {
  const sink = await startSink()
  const costs: Record<Mode, number[]> = { before: [], off: [], '1 %': [], '100 %': [] }
  await withPlaces(MODES, sink.url, async (places) => {
    await Promise.all(places.map((place) => load(place, WARM_SECONDS)))
    for (let round = 1; round <= Number(rounds); round += 1) {
      const each = await Promise.all(places.map((place) => load(place, Number(seconds))))
      places.forEach(({ mode }, at) => costs[mode].push(each[at] ?? NaN))
      console.error(
        `round ${round}: ${MODES.map((mode) => `${mode} ${costs[mode].at(-1)?.toFixed(1)}`).join(', ')} µs`,
      )
    }
  })
  console.log(`posts taken by the tracing system: ${sink.posts()}`)
  console.log('| tracing | µs of CPU a job | ratio to off at the same time |')
  console.log('| --- | --- | --- |')
  for (const mode of MODES) console.log(rowOf(mode, costs))
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
    env: ratio === null ? {} : traced,
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

function rowOf(mode: Mode, costs: Readonly<Record<Mode, readonly number[]>>): string {
  const cost = spreadOf([...costs[mode]])
  const ratio = spreadOf(costs[mode].map((each, round) => each / (costs.off[round] ?? NaN)))
  const text = ({ median, min, max }: ReturnType<typeof spreadOf>, digits: number) =>
    `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`
  return `| ${mode} | ${text(cost, 1)} | ${text(ratio, 3)} |`
}
