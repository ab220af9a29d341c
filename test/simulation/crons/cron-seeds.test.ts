import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { drawCronPlan } from './cron-plan.ts'
import { runSeed } from '../story/seeds.ts'

/** `CRON_SEEDS=2000` for a long run by hand, `FIRST_SEED` to begin elsewhere. */
const SEEDS = Number(process.env['CRON_SEEDS'] ?? 150)
const FIRST_SEED = Number(process.env['FIRST_SEED'] ?? 1)
const SEEDS_PER_TEST = 50
const FAILURES_SHOWN_MAX = 5

const firsts = Array.from(
  { length: Math.ceil(SEEDS / SEEDS_PER_TEST) },
  (_, i) => FIRST_SEED + i * SEEDS_PER_TEST,
)

describe('stories of crons whose executors die', () => {
  test.each(firsts)('seeds from %i on lose and double no tick', { timeout: 240_000 }, async (first) => {
    const failures: string[] = []
    let [kills, ticks] = [0, 0]
    for (let seed = first; seed < first + SEEDS_PER_TEST; seed += 1) {
      const outcome = await runSeed(seed, { plan: drawCronPlan(seed) })
      kills += outcome.kills
      ticks += outcome.ticks
      if (outcome.problems.length === 0) continue
      failures.push(`seed ${seed}: ${outcome.problems.slice(0, FAILURES_SHOWN_MAX).join('\n    ')}`)
    }
    process.stdout.write(`seeds from ${first} on: ${kills} kills, ${ticks} ticks\n`)
    assert.equal(failures.join('\n'), '')
  })
})
