import { startPostgresServer, type PostgresHome } from '../harness/postgres-server.ts'
import type { Contender } from './contender.ts'
import { nodeProgram, openSplitStand } from './split-stand.ts'

const NAME = 'pg_boss'

/** On PostgreSQL; fetches, calls and completes in batches. */
export function pgBossOn(home: PostgresHome): Contender {
  return {
    name: NAME,
    isSplit: true,
    scenarios: ['lateness'],
    comparison: {
      setup: `pg-boss 12.38, PostgreSQL ${home.version}; \`insert\` for the requests of one turn, four local workers that take batches, LISTEN/NOTIFY, polling every 0.5 s`,
      lacks:
        'calls over HTTP (the worker is ours), times finer than its poll of 0.5 s, signed calls, teams; a batch is done when its slowest call is',
      better:
        'runs any code; a job is added in the same transaction as your data, and is on disk when it is accepted; dead letter queues, priorities, flows',
    },
    open: async (folder) => {
      const store = await startPostgresServer(folder, home)
      const intake = nodeProgram('pg-boss', 'api', store.env)
      const worker = nodeProgram('pg-boss', 'worker', store.env)
      return openSplitStand({ name: NAME, intake, worker, options: {} }, store, folder)
    },
  }
}
