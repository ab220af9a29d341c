import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { replaySeed, runSeed } from './seeds.ts'

/** `SEED=42` prints one story. */
const SEED = process.env['SEED']
/** Number of stories; `SEEDS=100000` for a long run by hand, `FIRST_SEED` to start elsewhere. */
const SEEDS = SEED === undefined ? Number(process.env['SEEDS'] ?? 1_000) : 1
const FIRST_SEED = Number(SEED ?? process.env['FIRST_SEED'] ?? 1)
/** Seeds per test; a failing test names each failing seed. */
const SEEDS_PER_TEST = 50
const FAILURES_SHOWN_MAX = 5

interface Group {
  readonly first: number
  readonly last: number
}

/** Runs every `parts`-th group of seeds, so that each core gets its own file. */
export function describeSeeds(part: number, parts: number): void {
  describe('stories of API, executors and Redis, with faults', () => {
    test.each(groupsOf(part, parts))(
      'seeds $first to $last end well',
      { timeout: 240_000 },
      async (group) => {
        assert.equal(await failuresOf(group), '')
      },
    )

    test('a seed always runs the same story', { timeout: 60_000 }, async () => {
      for (const seed of [FIRST_SEED + part, FIRST_SEED + part + 10]) {
        const trace = await traceOf(seed)
        assert.ok(trace.length > 100, `seed ${seed} has no trace`)
        assert.deepEqual(await traceOf(seed), trace)
      }
    })
  })
}

function groupsOf(part: number, parts: number): Group[] {
  const groups: Group[] = []
  for (let at = part * SEEDS_PER_TEST; at < SEEDS; at += parts * SEEDS_PER_TEST) {
    const first = FIRST_SEED + at
    groups.push({ first, last: first + Math.min(SEEDS_PER_TEST, SEEDS - at) - 1 })
  }
  return groups
}

async function failuresOf({ first, last }: Group): Promise<string> {
  if (SEED !== undefined) await replaySeed(first, (line) => process.stdout.write(`${line}\n`))
  const failures: string[] = []
  for (let seed = first; seed <= last; seed += 1) {
    const { problems } = await runSeed(seed)
    if (problems.length === 0) continue
    const shown = problems.slice(0, FAILURES_SHOWN_MAX).join('\n    ')
    failures.push(`seed ${seed}; its trace: node test/simulation/replay.ts ${seed}\n    ${shown}`)
  }
  return failures.join('\n')
}

async function traceOf(seed: number): Promise<string[]> {
  const lines: string[] = []
  await runSeed(seed, { onTrace: (line) => lines.push(line) })
  return lines
}
