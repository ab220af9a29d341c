import type { RedisServers } from '../../support/engine/installation.ts'

/** A Redis of some shape. What of it can be struck, and how, is up to the shape. */
export interface Topology extends RedisServers {
  /** What the API, and what executors, are given beside `env`. */
  readonly apiEnv: Readonly<Record<string, string>>
  readonly executorEnv: Readonly<Record<string, string>>
  /** Waits until it is whole, and may be struck again. */
  settled(): Promise<void>
}
