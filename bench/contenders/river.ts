import { startPostgresServer, type PostgresHome } from '../harness/postgres-server.ts'
import type { Contender } from './contender.ts'
import { openSplitStand } from './split-stand.ts'

const NAME = 'river'

/** In Go, on PostgreSQL. @param program the path of `bench/peers/go/river`, built */
export function riverBy(program: string, home: PostgresHome): Contender {
  return {
    name: NAME,
    isSplit: true,
    scenarios: ['lateness'],
    comparison: {
      setup: `River 0.51 (Go), PostgreSQL ${home.version}; \`InsertMany\` for the requests of one turn, fetches every 2 ms at most as its own benchmark does; \`net/http\` with kept connections`,
      lacks:
        'calls over HTTP (the worker is ours), a limit of calls at once per queue over all workers, times closer than 5 s (it looks that often, so jobs pushed 2 s ahead come up to 3 s late), signed calls, teams',
      better:
        'runs any Go code, in one process with your own; a job is added in the same transaction as your data, and is on disk when it is accepted; unique jobs, priorities',
    },
    open: async (folder) => {
      const store = await startPostgresServer(folder, home)
      const intake = { command: program, args: ['api'], env: store.env }
      const worker = { command: program, args: ['worker'], env: store.env }
      return openSplitStand({ name: NAME, intake, worker, options: {} }, store, folder)
    },
  }
}
