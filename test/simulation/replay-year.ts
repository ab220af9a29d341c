import { CronYear } from './crons/cron-year.ts'

/** `node test/simulation/replay-year.ts 42`: prints the year of one seed, step by step. */
const year = new CronYear(Number(process.argv[2]), { onTrace: (line) => process.stdout.write(`${line}\n`) })
const { problems } = await year.tell()
for (const problem of problems) process.stdout.write(`${problem}\n`)
process.exitCode = problems.length > 0 ? 1 : 0
