import { describe } from 'vitest'
import { testSeeds } from '../story/seed-suite.ts'

/** `CRON_SEEDS=2000` for a long run by hand. */
const SEEDS = Number(process.env['CRON_SEEDS'] ?? 50)

describe('stories of crons whose executors die, which lose and double no tick', () => {
  testSeeds({ kind: 'crons', seeds: SEEDS })
})
