/** A figure that was measured on one machine of two cores and 24 GiB. */
export interface Cost {
  readonly value: number
  /** `capacity <line> <figure>` or `latest <figure>`: of bench/results/capacity.json or latest.json. */
  readonly source: string
}

/**
 * What one job costs, by how the load is spread: over one queue, where steps work on many jobs at once, and over a
 * thousand, where hardly two jobs of a step share a queue. docs/capacity.md explains each.
 */
export const COSTS = {
  /** CPU of an API, µs. */
  apiOneQueue: { value: 74, source: 'capacity 0 api_cpu_us_per_job' },
  apiManyQueues: { value: 93, source: 'capacity 1 api_cpu_us_per_job' },
  /** In requests of a hundred jobs. */
  apiBatch: { value: 25.5, source: 'capacity 2 api_cpu_us_per_job' },
  /** CPU of an executor, µs. */
  executorOneQueue: { value: 76, source: 'capacity 0 executor_cpu_us_per_job' },
  executorManyQueues: { value: 102.5, source: 'capacity 1 executor_cpu_us_per_job' },
  /** CPU of Redis, µs. */
  redisOneQueue: { value: 36.8, source: 'capacity 0 redis_cpu_us_per_job' },
  redisManyQueues: { value: 103.7, source: 'capacity 1 redis_cpu_us_per_job' },
  redisBatch: { value: 27, source: 'capacity 2 redis_cpu_us_per_job' },
  /** Memory of a process at work, MiB. */
  apiMemory: { value: 205, source: 'capacity 1 api_rss_mib' },
  executorMemory: { value: 218, source: 'capacity 1 executor_rss_mib' },
  /** Of an executor with 10,000 open calls, MiB. */
  executorMemoryAt10000Calls: { value: 225, source: 'latest rss_mib_10000_calls' },
  /** Memory of Redis, bytes. */
  waitingJob: { value: 240, source: 'latest bytes_per_delayed_job' },
  finishedJob: { value: 147, source: 'latest bytes_per_finished_job' },
  queue: { value: 341, source: 'latest idle_bytes_per_queue' },
} as const satisfies Record<string, Cost>

/** Connections of one process to each primary of Redis, at most. */
export const CONNECTIONS = { api: 1, executor: 3, controller: 3 } as const

/** The JSON that the jobs above were pushed as, bytes. */
export const MEASURED_JOB_BYTES = 152
/** Jobs a request where a request costs least. */
export const MEASURED_BATCH = 100
/**
 * Queues from which on more cost no more: each job of a step is then of another one. A step takes 64 jobs and holds about
 * half as many under load; with 32, what was measured with 16 queues is met.
 */
export const MANY_QUEUES = 32
