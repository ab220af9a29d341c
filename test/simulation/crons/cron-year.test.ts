import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { loadScripts } from '../../../src/redis/steps.ts'
import { FIRST_SEED } from '../story/seed-suite.ts'
import { CronYear } from './cron-year.ts'

/** `YEAR_SEEDS=200` for a long run by hand. */
const SEEDS = Number(process.env['YEAR_SEEDS'] ?? 1)
const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i)

describe('a year of crons, whose executors live about some ticks', () => {
  test.each(seeds)(
    'seed %i: each tick runs, is skipped or is missed, once',
    { timeout: 240_000 },
    async (seed) => {
      const { problems, visits, kills, ticks } = await new CronYear(seed).tell()
      process.stdout.write(`year ${seed}: ${visits} visits, ${kills} kills, ${JSON.stringify(ticks)} ticks\n`)
      assert.equal(problems.join('\n'), '', `its trace: node test/simulation/replay-year.ts ${seed}`)
      assert.ok(ticks.run > 100 && ticks.missed > 100 && ticks.skipped > 0)
    },
  )
})

/** Bugs put into the step that ticks: what is done instead. */
const PLANTED = [
  { bug: 'a tick is decided about twice', right: 'tick ~= cron.expected', wrong: 'false' },
  {
    bug: 'a run does not hinder the next one',
    right: "    elseif cron.forbids and running ~= ''",
    wrong: '    elseif false',
  },
  {
    bug: 'what was missed is not noted',
    right: "{ cron.missed ~= '-' and cron.missed or nil }",
    wrong: '{}',
  },
]
const SEEDS_UNTIL_FOUND = 5

describe('a bug in the step that ticks is found', () => {
  test.each(PLANTED)('$bug', { timeout: 120_000 }, async ({ right, wrong }) => {
    let isPlanted = false
    const scripts = loadScripts((source, name) => {
      if (name !== 'tick') return source
      isPlanted = source.includes(right)
      return source.replaceAll(right, wrong)
    })
    assert.ok(isPlanted, 'the step has changed: plant the bug in its new text')
    for (let seed = 1; seed <= SEEDS_UNTIL_FOUND; seed += 1) {
      if ((await new CronYear(seed, { scripts }).tell()).problems.length > 0) return
    }
    assert.fail(`not found in ${SEEDS_UNTIL_FOUND} seeds`)
  })
})
