import { startTarget } from '../harness/nginx-target.ts'
import { pushUntilAccepted } from '../harness/load.ts'
import { sleep, waitUntil } from '../harness/waiting.ts'
import { padded } from '../contenders/contender.ts'
import type { ScaleRun } from './measurement.ts'
import { RedisNode } from './redis-node.ts'
import { Roles } from './roles.ts'

const FEW_QUEUES = 10
const JOBS_PER_QUEUE = 2
/** Few and many take turns in each. */
const ROUNDS = 1
const CONCURRENCY = 300
const CONNECTIONS = 64
const DONE_WITHIN_MS = 900_000
const GOAL_RATIO = 1.5

/** Of a job, in two phases: taking it in, and working it off. */
interface Cost {
  readonly ownMicros: number
  readonly redisMicros: number
  readonly commands: number
}

interface Costs {
  readonly pushed: Cost
  readonly executed: Cost
}

/** The cost of a job among so many queues that all have jobs, against that of a job among ten queues. */
export async function measureBusyQueues(run: ScaleRun): Promise<void> {
  const few: Costs[] = []
  const many: Costs[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    few.push(await measureQueues(run, FEW_QUEUES))
    many.push(await measureQueues(run, run.size))
  }
  for (const phase of ['pushed', 'executed'] as const) {
    const [ofFew, ofMany] = [few, many].map((costs) => least(costs.map((cost) => cost[phase])))
    if (ofFew === undefined || ofMany === undefined) continue
    const what = phase === 'pushed' ? 'push' : 'claim, call and finish'
    run.record(`${what}, 10 queues: CPU of API and executor`, 'µs', ofFew.ownMicros)
    run.record(`${what}, 10 queues: CPU of Redis`, 'µs', ofFew.redisMicros)
    run.record(`${what}, 10 queues: commands`, '', ofFew.commands)
    run.record(`${what}, all queues: CPU of API and executor`, 'µs', ofMany.ownMicros)
    run.record(`${what}, all queues: CPU of Redis`, 'µs', ofMany.redisMicros)
    run.record(`${what}, all queues: commands`, '', ofMany.commands)
  }
  const ofFew = least(few.map(sumOf))
  const ofMany = least(many.map(sumOf))
  const ratio = (of: (cost: Cost) => number): number => of(ofMany) / of(ofFew)
  run.record(
    'CPU of a job, all queues against 10',
    '×',
    ratio((cost) => cost.ownMicros + cost.redisMicros),
    GOAL_RATIO,
  )
  run.record(
    'CPU of Redis of a job, all queues against 10',
    '×',
    ratio((cost) => cost.redisMicros),
  )
}

function sumOf({ pushed, executed }: Costs): Cost {
  return {
    ownMicros: pushed.ownMicros + executed.ownMicros,
    redisMicros: pushed.redisMicros + executed.redisMicros,
    commands: pushed.commands + executed.commands,
  }
}

/** The run that cost least: other work on the machine only adds. */
function least(costs: readonly Cost[]): Cost {
  const total = ({ ownMicros, redisMicros }: Cost) => ownMicros + redisMicros
  return costs.reduce((best, cost) => (total(cost) < total(best) ? cost : best))
}

async function measureQueues(run: ScaleRun, queues: number): Promise<Costs> {
  const redis = await RedisNode.start(run.folder)
  const target = await startTarget(run.folder)
  const roles = new Roles({ folder: run.folder, redisUrl: redis.url })
  // The same number of jobs for few and for many queues.
  const jobs = run.size * JOBS_PER_QUEUE
  try {
    const api = await roles.startApi()
    const push = async (count: number): Promise<void> => {
      const body = padded({ queue: 'q{queue}', url: target.url })
      const plan = { url: api.url, headers: api.headers, body, count, queues, connections: CONNECTIONS }
      await pushUntilAccepted({ ...plan, perSecond: null, dueInMs: 0 }, DONE_WITHIN_MS)
    }
    // A queue is made by its first push, which costs more.
    await push(queues)
    const pushed = await costOf({ redis, roles, jobs }, () => push(jobs))
    tellCommands(run, `${queues} queues, taken in`, await redis.commands(), jobs)
    await roles.startExecutor(CONCURRENCY)
    const all = jobs + queues
    const from = await target.count()
    const executed = await costOf({ redis, roles, jobs: all - from }, async () => {
      const isDone = async () => (await target.count()) >= all
      await waitUntil('all are called', isDone, { withinMs: DONE_WITHIN_MS, everyMs: 50 })
      await sleep(1_000)
    })
    tellCommands(run, `${queues} queues, worked off`, await redis.commands(), all - from)
    return { pushed, executed }
  } finally {
    await roles.stop()
    await redis.stop()
    await target.stop()
  }
}

async function costOf(
  { redis, roles, jobs }: { redis: RedisNode; roles: Roles; jobs: number },
  work: () => Promise<void>,
): Promise<Cost> {
  await redis.resetCounts()
  const before = { own: roles.cpuSeconds(), redis: redis.cpuSeconds() }
  await work()
  const commands = [...(await redis.commands()).values()].reduce((sum, calls) => sum + calls, 0)
  return {
    ownMicros: ((roles.cpuSeconds() - before.own) * 1e6) / jobs,
    redisMicros: ((redis.cpuSeconds() - before.redis) * 1e6) / jobs,
    commands: commands / jobs,
  }
}

function tellCommands(
  run: ScaleRun,
  what: string,
  commands: ReadonlyMap<string, number>,
  jobs: number,
): void {
  const most = [...commands].toSorted((a, b) => b[1] - a[1]).slice(0, 14)
  run.say(`${what}: ${most.map(([name, calls]) => `${name} ${(calls / jobs).toFixed(3)}`).join(', ')}`)
}
