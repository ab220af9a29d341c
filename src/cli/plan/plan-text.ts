import { rateText } from '../given-rate.ts'
import { columns } from '../output/text-table.ts'
import { factView } from '../output/view.ts'
import { CALLS_PART, type CapacityPlan, CORE_PART } from './capacity-plan.ts'

const percent = (part: number): string => `${Math.round(part * 100)} %`
const grouped = (value: number): string => value.toLocaleString('en-US')

export const PLAN_PAGE = factView<CapacityPlan>((plan) => {
  const { load, api, executors, redis, cpu_us_per_job: cpu } = plan
  return [
    `${grouped(load.jobs_per_second)} jobs/s over ${grouped(load.queues)} queues${rateOfEach(load)}, calls of ${grouped(load.call_ms)} ms: ` +
      `${grouped(plan.calls_in_flight)} calls in flight`,
    '',
    columns([
      ['', 'PODS', 'CORES USED', 'MEMORY EACH', 'CPU A JOB'],
      ['api', ...podCells(api), `${cpu.api} µs`],
      ['executor', ...podCells(executors), `${cpu.executor} µs`],
      ['redis', grouped(redis.primaries), String(redis.cores), redisMemory(plan), `${cpu.redis} µs`],
    ]),
    '',
    columns([
      ['calls per executor', grouped(executors.calls_per_pod)],
      ['connections to targets', grouped(plan.connections_to_targets)],
      ['connections to each Redis primary', grouped(redis.connections_per_primary)],
      ['shards', `${redis.shards}, fixed at the first start`],
    ]),
    '',
    `Room: a core is used to ${percent(CORE_PART)}, calls to ${percent(CALLS_PART)} of an executor's concurrency,`,
    `memory of Redis for ${grouped(load.waiting_jobs)} waiting jobs. Costs of two cores: docs/capacity.md.`,
    ...plan.warnings.map((warning) => `warning: ${warning}`),
  ]
})

function rateOfEach({ rate_limit: rate }: CapacityPlan['load']): string {
  return rate === null ? '' : ` of at most ${rateText(rate)}`
}

function podCells({ pods, cores, memory_mib_per_pod: memory }: CapacityPlan['api']): string[] {
  return [grouped(pods), String(cores), `${grouped(memory)} MiB`]
}

function redisMemory({ redis }: CapacityPlan): string {
  return `${grouped(redis.maxmemory_mib_per_primary)} MiB maxmemory`
}
