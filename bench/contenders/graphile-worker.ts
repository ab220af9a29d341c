import { startPostgresServer, type PostgresHome } from '../harness/postgres-server.ts'
import type { Contender } from './contender.ts'
import { nodeProgram, openSplitStand } from './split-stand.ts'

const NAME = 'graphile_worker'

/** On PostgreSQL; fetches and completes in batches. */
export function graphileWorkerOn(home: PostgresHome): Contender {
  return {
    name: NAME,
    isSplit: true,
    scenarios: ['lateness'],
    comparison: {
      setup: `graphile-worker 0.18, PostgreSQL ${home.version}; \`addJobs\` for the requests of one turn, a local queue, completion in batches, polling every 50 ms`,
      lacks:
        'calls over HTTP (the worker is ours), a limit of calls at once per queue (one or none), dead letters with replay, signed calls, history (finished jobs are deleted), teams',
      better:
        'runs any code; a job is added in the same transaction as your data, and is on disk when it is accepted',
    },
    open: async (folder) => {
      const store = await startPostgresServer(folder, home)
      const intake = nodeProgram('graphile-worker', 'api', store.env)
      const worker = nodeProgram('graphile-worker', 'worker', store.env)
      return openSplitStand({ name: NAME, intake, worker, options: {} }, store, folder)
    },
  }
}
