import type { BulkShard } from '../../ports/bulk/bulk.ts'
import type { LoopHealth } from '../../ports/loops/loop-health.ts'
import type { Runtime } from '../../ports/runtime.ts'
import { BulkPlaces } from './bulk-places.ts'
import { BulkWorker } from './bulk-worker.ts'

export interface BulkWorkersOptions extends Runtime {
  readonly shards: readonly BulkShard[]
  readonly loops: LoopHealth
  /** 0–1. */
  random(): number
}

/** Shards are first looked at within this time, not all at once. */
const START_MS = 500

/** Works off the bulks of all shards. Owns a worker for each; `stop` waits for the pages in progress. */
export class BulkWorkers {
  readonly #workers: readonly BulkWorker[]
  readonly #random: () => number

  constructor({ shards, loops, random, clock, logger }: BulkWorkersOptions) {
    const places = new BulkPlaces()
    this.#workers = shards.map((bulks) => new BulkWorker({ bulks, places, loops, clock, logger }))
    this.#random = random
  }

  start(): void {
    for (const worker of this.#workers) worker.start(START_MS * this.#random())
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()))
  }
}
