import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { runSeed } from '../story/seeds.ts'
import { drawThrowPlan } from './throw-plan.ts'

/** `THROW_SEEDS=5000` for a long run by hand, `FIRST_SEED` to begin elsewhere. */
const SEEDS = Number(process.env['THROW_SEEDS'] ?? 100)
const FIRST_SEED = Number(process.env['FIRST_SEED'] ?? 1)
const SEEDS_PER_TEST = 50
const FAILURES_SHOWN_MAX = 5

const firsts = Array.from(
  { length: Math.ceil(SEEDS / SEEDS_PER_TEST) },
  (_, i) => FIRST_SEED + i * SEEDS_PER_TEST,
)

describe('stories in which a step throws for one team', () => {
  test.each(firsts)('seeds from %i on end well for all others', { timeout: 240_000 }, async (first) => {
    const failures: string[] = []
    for (let seed = first; seed < first + SEEDS_PER_TEST; seed += 1) {
      const plan = drawThrowPlan(seed)
      const { problems } = await runSeed(seed, { plan })
      if (problems.length === 0) continue
      const shown = problems.slice(0, FAILURES_SHOWN_MAX).join('\n    ')
      failures.push(`seed ${seed}, throwing at ${plan.thrower?.at}: ${shown}`)
    }
    assert.equal(failures.join('\n'), '')
  })
})
