/**
 * Pushes jobs, claims them and finishes them, by the code of a checkout. Arguments: its path, the URL of a Redis, how many jobs.
 * Prints the CPU that this process has used for it, in µs, without the start.
 */
import { join } from 'node:path'
import type * as RetryPolicy from '../../src/domain/jobs/retry-policy.ts'
import type * as Source from '../../src/redis/jobs/execute/job-source.ts'
import type * as Grants from '../../test/support/engine/claim-grant.ts'
import type * as Engines from '../../test/support/engine/engine.ts'

const [tree = '', url = '', count = '0'] = process.argv.slice(2)
const jobs = Number(count)
const PUSHED_AT_ONCE = 500

const of = <T>(path: string): Promise<T> => import(join(tree, path)) as Promise<T>
const { openEngine, newJob } = await of<typeof Engines>('test/support/engine/engine.ts')
const { RedisJobSource } = await of<typeof Source>('src/redis/jobs/execute/job-source.ts')
const { endAttempt } = await of<typeof RetryPolicy>('src/domain/jobs/retry-policy.ts')
const { grantOf } = await of<typeof Grants>('test/support/engine/claim-grant.ts')

const { engine, intake, close } = await openEngine(url, { shards: 1 })
const source = new RedisJobSource(engine, 0, 'driver')
await source.beat(true)
const before = process.cpuUsage()
for (let begin = 0; begin < jobs; begin += PUSHED_AT_ONCE) {
  const page = Array.from({ length: Math.min(PUSHED_AT_ONCE, jobs - begin) }, (_, i) =>
    intake.push(newJob({ queue: `q${i % 10}` })),
  )
  await Promise.all(page)
}
let beatMs = performance.now()
for (let done = 0; done < jobs;) {
  if (performance.now() - beatMs > 3_000) {
    await source.beat(false)
    beatMs = performance.now()
  }
  const answer = await source.claim(grantOf(64))
  if (answer.status !== 'claimed') throw new Error(`a claim was answered ${answer.status}`)
  const ends = answer.work.flatMap((work) => {
    if (work.kind !== 'job') return []
    const outcome = { durationMs: 5, responseStatus: 200, failureReason: null, errorMessage: null }
    const end = endAttempt(work, { ...outcome, completedAtMs: work.startedAtMs })
    return [{ type: 'ended' as const, work, end, callback: null, call: null }]
  })
  await source.finish(ends)
  done += ends.length
}
const { user, system } = process.cpuUsage(before)
console.log(user + system)
close()
