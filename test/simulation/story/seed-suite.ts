import assert from 'node:assert/strict'
import { test } from 'vitest'
import { STORY_KINDS, type StoryKind } from '../story-kinds.ts'
import { runSeed } from './seeds.ts'

/** The seeds of each run are new, so that many runs see many stories. `FIRST_SEED` tells those of an earlier run again. */
export const FIRST_SEED = Number(process.env['FIRST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
/** Seeds per test; a failing test names each failing seed. */
const SEEDS_PER_TEST = 50
const FAILURES_SHOWN_MAX = 5

interface SeedSuite {
  readonly kind: StoryKind
  readonly seeds: number
  /** The file runs every `parts`-th group of seeds, so that each core gets its own file. */
  readonly part?: number
  readonly parts?: number
}

interface Group {
  readonly first: number
  readonly last: number
}

/** `SEEDS=100000` for a long run by hand. */
const STORIES = Number(process.env['SEEDS'] ?? 200)

/** Stories of faults of any kind, in `parts` files. */
export function testStories(part: number, parts: number): void {
  testSeeds({ kind: 'stories', seeds: STORIES, part, parts })
}

export function testSeeds({ kind, seeds, part = 0, parts = 1 }: SeedSuite): void {
  test.each(groupsOf({ seeds, part, parts }))(
    'seeds $first to $last end well',
    { timeout: 240_000 },
    async (group) => {
      assert.equal(await failuresOf(kind, group), '')
    },
  )

  test('a seed always runs the same story', { timeout: 60_000 }, async () => {
    const seed = FIRST_SEED + part
    const trace = await traceOf(kind, seed)
    assert.ok(trace.length > 100, `seed ${seed} has no trace`)
    assert.deepEqual(await traceOf(kind, seed), trace, `seed ${seed}`)
  })
}

function groupsOf({ seeds, part, parts }: Required<Pick<SeedSuite, 'seeds' | 'part' | 'parts'>>): Group[] {
  const groups: Group[] = []
  for (let at = part * SEEDS_PER_TEST; at < seeds; at += parts * SEEDS_PER_TEST) {
    const first = FIRST_SEED + at
    groups.push({ first, last: first + Math.min(SEEDS_PER_TEST, seeds - at) - 1 })
  }
  return groups
}

async function failuresOf(kind: StoryKind, { first, last }: Group): Promise<string> {
  const failures: string[] = []
  let [kills, ticks] = [0, 0]
  for (let seed = first; seed <= last; seed += 1) {
    const outcome = await runSeed(seed, { plan: STORY_KINDS[kind](seed) })
    kills += outcome.kills
    ticks += outcome.ticks
    if (outcome.problems.length === 0) continue
    const shown = outcome.problems.slice(0, FAILURES_SHOWN_MAX).join('\n    ')
    failures.push(`seed ${seed}; its trace: node test/simulation/replay.ts ${seed} ${kind}\n    ${shown}`)
  }
  process.stdout.write(`${kind}, seeds ${first} to ${last}: ${kills} kills, ${ticks} ticks\n`)
  return failures.join('\n')
}

async function traceOf(kind: StoryKind, seed: number): Promise<string[]> {
  const lines: string[] = []
  await runSeed(seed, { plan: STORY_KINDS[kind](seed), onTrace: (line) => lines.push(line) })
  return lines
}
