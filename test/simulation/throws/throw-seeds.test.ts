import { describe } from 'vitest'
import { testSeeds } from '../story/seed-suite.ts'

/** `THROW_SEEDS=5000` for a long run by hand. */
const SEEDS = Number(process.env['THROW_SEEDS'] ?? 50)

describe('stories in which a step throws for one team, which end well for all others', () => {
  testSeeds({ kind: 'throws', seeds: SEEDS })
})
