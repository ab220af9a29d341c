import { STORY_KINDS, type StoryKind } from './story-kinds.ts'
import { replaySeed } from './story/seeds.ts'

/** `node test/simulation/replay.ts 42 crons`: prints the story of one seed, step by step. */
const [seed = '', kind = 'stories'] = process.argv.slice(2)
if (!/^\d+$/.test(seed) || !(kind in STORY_KINDS)) {
  throw new Error(`replay.ts takes a seed and one of ${Object.keys(STORY_KINDS).join(', ')}`)
}
const plan = STORY_KINDS[kind as StoryKind](Number(seed))
process.exitCode = await replaySeed(Number(seed), plan, (line) => process.stdout.write(`${line}\n`))
