import { replaySeed } from './story/seeds.ts'

/** `node test/simulation/replay.ts 42`: prints the story of one seed, step by step. */
process.exitCode = await replaySeed(Number(process.argv[2] ?? process.env['SEED']), (line) =>
  process.stdout.write(`${line}\n`),
)
