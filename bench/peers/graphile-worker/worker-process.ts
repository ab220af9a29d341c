/**
 * graphile-worker, tuned as its page on performance says: jobs are fetched into a local queue and completed in batches.
 * Jobs of later are found by polling alone, so the poll is short.
 */
import { run } from 'graphile-worker'
import { call } from '../node/call.ts'
import { readOptions, type Push } from '../node/push.ts'
import { openPool, quietLogger } from './database.ts'

const POLL_MS = 50
const CONNECTIONS = 10
const options = readOptions() as { concurrency: number }
await run({
  pgPool: openPool(CONNECTIONS),
  logger: quietLogger,
  noHandleSignals: true,
  taskList: { call: async (payload) => void (await call(payload as Push)) },
  preset: {
    worker: {
      concurrentJobs: options.concurrency,
      pollInterval: POLL_MS,
      localQueue: { size: 2 * options.concurrency },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
})
process.stdout.write('READY\n')
process.once('SIGTERM', () => process.exit())
