/**
 * pg-boss's worker: batches of jobs fetched at once, called at once and completed at once by several local workers, which
 * share the calls between them. It is woken for new jobs; jobs of later are found by polling alone, every 0.5 s at best.
 */
import type { Job } from 'pg-boss'
import { call } from '../node/call.ts'
import { readOptions, type Push } from '../node/push.ts'
import { openBoss, QUEUE } from './queue.ts'

const LOCAL_WORKERS = 4
const CONNECTIONS = 10
const POLL_SECONDS = 0.5
const options = readOptions() as { concurrency: number }
const boss = await openBoss(CONNECTIONS)
await boss.work<Push>(
  QUEUE,
  {
    batchSize: Math.ceil(options.concurrency / LOCAL_WORKERS),
    localConcurrency: LOCAL_WORKERS,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: POLL_SECONDS,
    notifyPollingIntervalSeconds: POLL_SECONDS,
  },
  callAll,
)
process.stdout.write('READY\n')
process.once('SIGTERM', () => process.exit())

async function callAll(jobs: Array<Job<Push>>): Promise<void> {
  await Promise.all(jobs.map(({ data }) => call(data)))
}
