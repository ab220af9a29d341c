/**
 * What an API does when more pushes come than it can take: `node bench/overload.ts [seconds] [multiples…]` finds the peak
 * of closed clients, offers multiples of it whatever is answered, all in one run, and tells goodput, refusals, latencies
 * from the moment each push was due, memory, and how long after the load a push is taken as before.
 *
 * An API at its full speed takes more than one process can offer. So its JavaScript is interpreted here: it has a core of
 * its own and takes a third, which is its peak, and the load and Redis have the other cores.
 */
import { execFileSync } from 'node:child_process'
import { BenchError } from './harness/bench-error.ts'
import { runMain } from './harness/main-run.ts'
import type { Role } from './harness/roles.ts'
import { bearer, withStand } from './harness/stand.ts'
import { sleep } from './harness/waiting.ts'
import { delayedPush, pushSame } from './load/push-same.ts'
import type { Latencies, SamePushPlan, SamePushReport } from './load/same-push-plan.ts'

/** The core of the API; the load and Redis have the others. */
const API_CORE = '1'
const OTHER_CORES = '0'
/** Without its compilers an API takes about a third as much, and one process can offer several times that. */
const SLOW_NODE = ['--no-opt', '--no-maglev', '--no-sparkplug']
/** All pushes of a run are kept, and none may meet a quota of the team. */
const NO_QUOTAS = { PUNCTUAL_QUOTA_PENDING_JOBS: '1000000000', PUNCTUAL_QUOTA_STORED_BYTES: String(2 ** 40) }
const PEAK_CONNECTIONS = 128
const OPEN_CONNECTIONS = 3_000
const WARM_SECONDS = 3
/** The load has ended well when so many pushes in a row are taken, each within this time. */
const CALM_PUSHES = 20
const CALM_MS = 50
const RECOVERY_MS_MAX = 30_000
const BODY = delayedPush('overload')

const [seconds = '20', ...given] = process.argv.slice(2)
const multiples = given.length > 0 ? given.map(Number) : [2, 3]
await runMain(() => {
  pin(process.pid, OTHER_CORES)
  return withStand(async (stand) => {
    const api = await stand.startApi(SLOW_NODE, NO_QUOTAS)
    pin(api.program.pid, API_CORE)
    await load(api, { perSecond: null, connections: PEAK_CONNECTIONS, seconds: WARM_SECONDS })
    const [cpu, beganMs] = [api.program.cpuSeconds(), performance.now()]
    const closed = await load(api, {
      perSecond: null,
      connections: PEAK_CONNECTIONS,
      seconds: Number(seconds),
    })
    if (closed.accepted.count === 0)
      throw new BenchError(`no push was accepted: ${JSON.stringify(closed.others)}`)
    const peak = closed.accepted.count / closed.seconds
    const busy = (api.program.cpuSeconds() - cpu) / ((performance.now() - beganMs) / 1_000)
    console.log(
      `peak: ${Math.round(peak)} pushes a second, ${share(busy)} of a core, ${told(closed.accepted)}`,
    )
    for (const multiple of multiples) await overload(api, peak, multiple)
  })
})

function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)], { stdio: 'ignore' })
}

async function overload(api: Role, peak: number, multiple: number): Promise<void> {
  const report = await load(api, {
    perSecond: Math.round(peak * multiple),
    connections: OPEN_CONNECTIONS,
    seconds: Number(seconds),
  })
  const rss = Math.round(api.program.rssMib())
  const recoveredMs = await recovery(api)
  const goodput = report.accepted.count / report.seconds / peak
  console.log(`${multiple} times the peak: goodput ${share(goodput)} of it`)
  console.log(`  accepted: ${told(report.accepted)}`)
  console.log(`  refused: ${told(report.refused)}; others ${JSON.stringify(report.others)}`)
  console.log(`  lateness of the load: ${told(report.lateness)}, ${report.connections} connections`)
  console.log(`  ${rss} MiB; as before ${recoveredMs} ms after the load`)
}

function load(
  api: Role,
  plan: Pick<SamePushPlan, 'perSecond' | 'connections' | 'seconds'>,
): Promise<SamePushReport> {
  return pushSame(api, { ...plan, body: BODY })
}

/** Milliseconds until pushes are taken as before; NaN = not within the time. */
async function recovery(api: Role): Promise<number> {
  const beganMs = performance.now()
  for (let calm = 0, sinceMs = beganMs; performance.now() - beganMs < RECOVERY_MS_MAX;) {
    const sentMs = performance.now()
    const answer = await fetch(`${api.url}/api/jobs`, { method: 'POST', headers: bearer(), body: BODY })
    await answer.arrayBuffer()
    const isCalm = answer.status === 201 && performance.now() - sentMs <= CALM_MS
    calm = isCalm ? calm + 1 : 0
    if (calm === 1) sinceMs = sentMs
    if (calm === CALM_PUSHES) return Math.round(sinceMs - beganMs)
    await sleep(20)
  }
  return Number.NaN
}

function told({ count, p50, p99, most }: Latencies): string {
  return `${count}, p50 ${p50} ms, p99 ${p99} ms, most ${most} ms`
}

function share(part: number): string {
  return `${(part * 100).toFixed(0)} %`
}
