import type { Scenario } from '../runner/scenario.ts'
import { API_SCENARIOS } from './apis.ts'
import { CLUSTER_SCENARIOS } from './clusters.ts'
import { EXECUTOR_SCENARIOS } from './executors.ts'
import { NEIGHBOUR_SCENARIOS } from './neighbours.ts'
import { REDIS_SCENARIOS } from './redis.ts'
import { SENTINEL_SCENARIOS } from './sentinels.ts'
import { VERSION_SCENARIOS } from './versions.ts'

/** In the order of their rows. */
export const SCENARIOS: readonly Scenario[] = [
  ...EXECUTOR_SCENARIOS,
  ...REDIS_SCENARIOS,
  ...SENTINEL_SCENARIOS,
  ...CLUSTER_SCENARIOS,
  ...API_SCENARIOS,
  ...NEIGHBOUR_SCENARIOS,
  ...VERSION_SCENARIOS,
].toSorted((one, other) => one.row.localeCompare(other.row))
