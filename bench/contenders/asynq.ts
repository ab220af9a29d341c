import { startRedisServer } from '../harness/redis-server.ts'
import type { Contender } from './contender.ts'
import { openSplitStand } from './split-stand.ts'

const NAME = 'asynq'

/** In Go, on Redis. @param program the path of `bench/peers/go/asynq`, built */
export function asynqBy(program: string): Contender {
  return {
    name: NAME,
    isSplit: true,
    scenarios: ['lateness'],
    comparison: {
      setup:
        'asynq 0.26 (Go), Redis; one task a request, for it has no batch; looks for new and due tasks every 50 ms; `net/http` with kept connections',
      lacks:
        'calls over HTTP (the worker is ours), times finer than a second (calls come up to a second early), a limit of calls at once per queue, signed calls, teams; finished tasks are deleted',
      better:
        'runs any Go code, in one process with your own; priorities of queues, unique tasks, groups of tasks',
    },
    open: async (folder) => {
      const redis = await startRedisServer(folder)
      const intake = { command: program, args: ['api'] }
      const worker = { command: program, args: ['worker'] }
      return openSplitStand({ name: NAME, intake, worker, options: { redisPort: redis.port } }, redis, folder)
    },
  }
}
