import { describe } from 'vitest'
import { testSeeds } from '../story/seed-suite.ts'

/** `RATE_SEEDS=5000` for a long run by hand. */
const SEEDS = Number(process.env['RATE_SEEDS'] ?? 25)

describe('stories of queues with a rate and of answers that come late', () => {
  testSeeds({ kind: 'rates', seeds: SEEDS })
})
