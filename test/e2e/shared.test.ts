/** What needs a release but not for itself: on the one of the setup, one after another. */
import { describe } from 'vitest'
import { alerts } from './shared/alerts.ts'
import { earlyStop } from './shared/early-stop.ts'
import { install } from './shared/install.ts'
import { network } from './shared/network.ts'
import { queues } from './shared/queues.ts'

describe('an install', () => {
  install()
})
describe('the network', () => {
  network()
})
describe('queues', () => {
  queues()
})
describe('alerts', () => {
  alerts()
})
describe('an early stop', () => {
  earlyStop()
})
