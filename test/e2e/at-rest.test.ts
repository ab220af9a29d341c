/** What begins without an executor: on a release of its own, one after another. */
import { describe } from 'vitest'
import { crons } from './at-rest/crons.ts'
import { executors } from './at-rest/executors.ts'

describe('crons', () => {
  crons()
})
describe('executors', () => {
  executors()
})
