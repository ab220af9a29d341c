/**
 * What a job costs by the steps and the executor's side of this tree, beside those of another checkout:
 *
 *     node bench/beside.ts PATH [jobs] [rounds]
 *
 * The two take turns on one Redis. Each turn pushes the jobs into ten queues, claims and finishes them in batches of 64, and
 * counts the CPU of Redis and of the process that drives it. No call is made.
 */
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { newFolder, runMain } from './harness/main-run.ts'
import { startRedisServer } from './harness/redis-server.ts'
import { spreadOf } from './report/statistics.ts'

const HERE = join(import.meta.dirname, '..')
const DRIVER = join(import.meta.dirname, 'load/drive-process.ts')
const [other, jobs = '40000', rounds = '10'] = process.argv.slice(2)
const run = promisify(execFile)

await runMain(async () => {
  if (other === undefined) throw new Error('the path of another checkout is missing')
  const redis = await startRedisServer(newFolder())
  const trees = { this: HERE, other: resolve(other) }
  const ratios = { redis: [] as number[], own: [] as number[] }
  try {
    for (let round = 0; round < Number(rounds); round += 1) {
      const costs: Record<string, { redis: number; own: number }> = {}
      // Whoever is first in a round is second in the next.
      const order = round % 2 === 0 ? (['this', 'other'] as const) : (['other', 'this'] as const)
      for (const name of order) {
        await redis.client.flushall()
        const before = await redis.cpuSeconds()
        const { stdout } = await run(process.execPath, [DRIVER, trees[name], redis.url, jobs])
        const used = (await redis.cpuSeconds()) - before
        costs[name] = { redis: (used * 1e6) / Number(jobs), own: Number(stdout) / Number(jobs) }
      }
      const [mine, theirs] = [costs['this'], costs['other']]
      if (mine === undefined || theirs === undefined) continue
      console.log(
        `Redis ${mine.redis.toFixed(2)} and ${theirs.redis.toFixed(2)} µs a job, driver ${mine.own.toFixed(1)} and ${theirs.own.toFixed(1)} µs`,
      )
      ratios.redis.push(mine.redis / theirs.redis)
      ratios.own.push(mine.own / theirs.own)
    }
  } finally {
    await redis.stop()
  }
  for (const [what, values] of Object.entries(ratios)) {
    const { median, min, max } = spreadOf(values)
    console.log(`${what}: this against the other ${percent(median)} (${percent(min)} to ${percent(max)})`)
  }
})

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(1)} %`
}
