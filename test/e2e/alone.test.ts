/** What wants a cluster with no other release, and takes its API server or a node away: one after another. */
import { describe } from 'vitest'
import { apiServerOutage } from './alone/api-server-outage.ts'
import { drain } from './alone/drain.ts'
import { kubectlPlugin } from './alone/plugin.ts'

describe('kubectl punctual', () => {
  kubectlPlugin()
})
describe('without an API server', () => {
  apiServerOutage()
})
describe('a node that is drained', () => {
  drain()
})
