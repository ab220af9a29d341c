/** A figure that was measured on one machine of two cores and 24 GiB. */
export interface Cost {
  readonly value: number
  /**
   * Names the figure: `capacity <line> <figure>` in bench/results/capacity.json, or `latest <figure>` in latest.json.
   */
  readonly source: string
}

/**
 * What one job costs, by how the load is spread: over one queue, where steps work on many jobs at once, and over a
 * thousand, where hardly two jobs of a step share a queue. docs/capacity.md explains each.
 */
export const COSTS = {
  /** The CPU of an API, in µs. */
  apiOneQueue: { value: 74, source: 'capacity 0 api_cpu_us_per_job' },
  apiManyQueues: { value: 93, source: 'capacity 1 api_cpu_us_per_job' },
  /** The same in requests of a hundred jobs. */
  apiBatch: { value: 25.5, source: 'capacity 2 api_cpu_us_per_job' },
  /** The CPU of an executor, in µs. */
  executorOneQueue: { value: 76, source: 'capacity 0 executor_cpu_us_per_job' },
  executorManyQueues: { value: 102.5, source: 'capacity 1 executor_cpu_us_per_job' },
  /** The CPU of Redis, in µs. */
  redisOneQueue: { value: 36.8, source: 'capacity 0 redis_cpu_us_per_job' },
  redisManyQueues: { value: 103.7, source: 'capacity 1 redis_cpu_us_per_job' },
  redisBatch: { value: 27, source: 'capacity 2 redis_cpu_us_per_job' },
  /** The memory of a process at work, in MiB. */
  apiMemory: { value: 205, source: 'capacity 1 api_rss_mib' },
  executorMemory: { value: 218, source: 'capacity 1 executor_rss_mib' },
  /** The memory of an executor with 10,000 open calls, in MiB. */
  executorMemoryAt10000Calls: { value: 225, source: 'latest rss_mib_10000_calls' },
  /** The memory of Redis, in bytes. */
  waitingJob: { value: 240, source: 'latest bytes_per_delayed_job' },
  finishedJob: { value: 147, source: 'latest bytes_per_finished_job' },
  queue: { value: 341, source: 'latest idle_bytes_per_queue' },
} as const satisfies Record<string, Cost>

/** The most connections of one process to each primary of Redis. */
export const CONNECTIONS = { api: 1, executor: 3, controller: 3 } as const

/** The size in bytes of the JSON by which the jobs above were pushed. */
export const MEASURED_JOB_BYTES = 152
/** The jobs of a request in which a job costs least. */
export const MEASURED_BATCH = 100
/**
 * From this many queues on, more of them cost no more, because each job of a step is then of another queue. A step
 * takes 64 jobs and holds about half as many under load; 32 agrees with what was measured with 16 queues.
 */
export const MANY_QUEUES = 32
