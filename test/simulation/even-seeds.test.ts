import { describe } from 'vitest'
import { testStories } from './story/seed-suite.ts'

describe('stories of API, executors and Redis, with faults', () => {
  testStories(0, 2)
})
