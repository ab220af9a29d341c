/** What kills pods: on a release of its own, one after another. */
import { describe } from 'vitest'
import { lostPods } from './losses/pods.ts'
import { lostTicks } from './losses/ticks.ts'

describe('lost pods', () => {
  lostPods()
})
describe('lost ticks', () => {
  lostTicks()
})
