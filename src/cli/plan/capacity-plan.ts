import {
  CALL_RECORDS_BYTES_MAX,
  FINISHED_CHAINS_DAYS,
  FINISHED_CHAINS_PER_QUEUE_KEPT,
  HISTORY_PART,
  SHARDS_MAX,
} from '../../domain/limits.ts'
import type { GivenRate } from '../given-rate.ts'
import { CONNECTIONS, type Cost, COSTS, MANY_QUEUES, MEASURED_BATCH, MEASURED_JOB_BYTES } from './costs.ts'

export interface Load {
  readonly jobsPerSecond: number
  readonly queues: number
  readonly callMs: number
  /** How many jobs a client sends in one request. */
  readonly batch: number
  /** The size of a job's JSON. */
  readonly jobBytes: number
  /** How many jobs may wait or be delayed at the same time. */
  readonly waitingJobs: number
  /** The `rate_limit` of each queue; null = none. */
  readonly rateLimit: GivenRate | null
}

/** A process is to use this part of a core. Beyond it, waits grow faster than the load. */
export const CORE_PART = 0.6
/** This part of an executor's concurrency is to be open. The rest is for targets that become slower. */
export const CALLS_PART = 0.5
/** So much of a rate limit is used while there is work. */
const RATE_PART = 0.97
/** The default of `PUNCTUAL_EXECUTOR_CONCURRENCY`. */
export const CONCURRENCY = 1000
/** One pod may be lost or replaced at any time. */
const PODS_MIN = 2
const CONTROLLERS = 2
/** Intake stops while less than this part of Redis's memory is free. */
const RESERVE_PART = 1 / 10
const MIB = 1024 ** 2
const DAY_SECONDS = 86_400

export interface Pods {
  readonly pods: number
  /** The cores of all pods together. */
  readonly cores: number
  readonly memory_mib_per_pod: number
}

export interface CapacityPlan {
  readonly load: {
    readonly jobs_per_second: number
    readonly queues: number
    readonly call_ms: number
    readonly jobs_per_request: number
    readonly job_bytes: number
    readonly waiting_jobs: number
    readonly rate_limit: GivenRate | null
  }
  /** Calls that begin in a second: the jobs, or fewer where rate limits keep some waiting. */
  readonly calls_per_second: number
  readonly calls_in_flight: number
  readonly api: Pods
  readonly executors: Pods & { readonly calls_per_pod: number }
  readonly redis: {
    readonly primaries: number
    readonly cores: number
    readonly shards: number
    readonly maxmemory_mib_per_primary: number
    readonly connections_per_primary: number
  }
  readonly connections_to_targets: number
  readonly cpu_us_per_job: { readonly api: number; readonly executor: number; readonly redis: number }
  readonly warnings: readonly string[]
}

/** Works out what a load takes, by the costs that were measured. docs/capacity.md derives it. */
export function planCapacity(load: Load): CapacityPlan {
  const cpu = cpuPerJob(load)
  const callsPerSecond = callsBegun(load)
  const callsInFlight = Math.ceil((callsPerSecond * load.callMs) / 1000)
  const cores = (micros: number, perSecond = load.jobsPerSecond): number => (perSecond * micros) / 1e6
  const executorCores = cores(cpu.executor, callsPerSecond)
  const primaries = Math.max(1, Math.ceil(cores(cpu.redis) / CORE_PART))
  const api = podsFor(cores(cpu.api))
  const executors = Math.max(podsFor(executorCores), Math.ceil(callsInFlight / (CONCURRENCY * CALLS_PART)))
  const callsPerPod = Math.max(1, Math.ceil(callsInFlight / executors))
  return {
    load: {
      jobs_per_second: load.jobsPerSecond,
      queues: load.queues,
      call_ms: load.callMs,
      jobs_per_request: load.batch,
      job_bytes: load.jobBytes,
      waiting_jobs: load.waitingJobs,
      rate_limit: load.rateLimit,
    },
    calls_per_second: rounded(callsPerSecond),
    calls_in_flight: callsInFlight,
    api: { pods: api, cores: rounded(cores(cpu.api)), memory_mib_per_pod: Math.ceil(COSTS.apiMemory.value) },
    executors: {
      pods: executors,
      cores: rounded(executorCores),
      memory_mib_per_pod: executorMemory(callsPerPod),
      calls_per_pod: callsPerPod,
    },
    redis: {
      primaries,
      cores: rounded(cores(cpu.redis)),
      shards: primaries === 1 ? 4 : SHARDS_MAX,
      maxmemory_mib_per_primary: Math.ceil(redisBytes(load) / primaries / MIB),
      connections_per_primary:
        api * CONNECTIONS.api + executors * CONNECTIONS.executor + CONTROLLERS * CONNECTIONS.controller,
    },
    connections_to_targets: callsInFlight,
    cpu_us_per_job: { api: rounded(cpu.api), executor: rounded(cpu.executor), redis: rounded(cpu.redis) },
    warnings: warningsOf(load, { primaries, callsPerSecond }),
  }
}

/** The jobs of a second, as far as the rate limits of their queues let them begin. */
function callsBegun({ jobsPerSecond, queues, rateLimit }: Load): number {
  if (rateLimit === null) return jobsPerSecond
  return Math.min(jobsPerSecond, (queues * rateLimit.limit * RATE_PART) / rateLimit.period_seconds)
}

/** The CPU of one job's life, in µs. */
export function cpuPerJob({ queues, batch }: Pick<Load, 'queues' | 'batch'>) {
  const spread = Math.min(1, (queues - 1) / (MANY_QUEUES - 1))
  const between = (one: Cost, many: Cost): number => one.value + spread * (many.value - one.value)
  const batched = (alone: number, { value: many }: Cost, { value: inBatch }: Cost): number => {
    // A request, and the step that stores it, have a cost of their own, which their jobs share.
    const ofRequest = ((many - inBatch) * MEASURED_BATCH) / (MEASURED_BATCH - 1)
    return Math.max(alone - ofRequest * (1 - 1 / batch), Math.min(alone, inBatch))
  }
  const { apiOneQueue, apiManyQueues, apiBatch, redisOneQueue, redisManyQueues, redisBatch } = COSTS
  return {
    api: batched(between(apiOneQueue, apiManyQueues), apiManyQueues, apiBatch),
    executor: between(COSTS.executorOneQueue, COSTS.executorManyQueues),
    redis: batched(between(redisOneQueue, redisManyQueues), redisManyQueues, redisBatch),
  }
}

function podsFor(cores: number): number {
  return Math.max(PODS_MIN, Math.ceil(cores / CORE_PART))
}

function executorMemory(calls: number): number {
  const { executorMemory: atWork, executorMemoryAt10000Calls: atMany } = COSTS
  return Math.ceil(atWork.value + (atMany.value * calls) / 10_000)
}

/** The `maxmemory` of all primaries together. */
function redisBytes({ jobsPerSecond, queues, jobBytes, waitingJobs }: Load): number {
  const waiting = waitingJobs * (COSTS.waitingJob.value + Math.max(0, jobBytes - MEASURED_JOB_BYTES))
  const finished = Math.min(
    jobsPerSecond * DAY_SECONDS * FINISHED_CHAINS_DAYS,
    queues * FINISHED_CHAINS_PER_QUEUE_KEPT,
  )
  const kept = finished * COSTS.finishedJob.value + queues * COSTS.queue.value + CALL_RECORDS_BYTES_MAX
  return (waiting + kept) / (1 - HISTORY_PART - RESERVE_PART)
}

function warningsOf(
  { queues, jobsPerSecond }: Load,
  { primaries, callsPerSecond }: { readonly primaries: number; readonly callsPerSecond: number },
): string[] {
  const warnings: string[] = []
  if (callsPerSecond < jobsPerSecond) {
    const more = rounded(jobsPerSecond - callsPerSecond)
    warnings.push(
      `The rate limit lets ${rounded(callsPerSecond)} of ${jobsPerSecond} jobs/s begin, so ${more} more wait each second: raise it, or push fewer.`,
    )
  }
  if (primaries > SHARDS_MAX) {
    warnings.push(`An installation uses at most ${SHARDS_MAX} primaries: split the load over several.`)
  }
  if (primaries > 1 && queues < 4 * primaries) {
    warnings.push(
      `A queue lives on one primary, so ${queues} queues do not fill ${primaries} evenly: spread the jobs over more.`,
    )
  }
  return warnings
}

function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
