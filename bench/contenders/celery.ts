import { join } from 'node:path'
import { startRedisServer } from '../harness/redis-server.ts'
import type { Contender } from './contender.ts'
import { openSplitStand, PEERS } from './split-stand.ts'

const NAME = 'celery'
/** It ends at once at SIGTERM, instead of waiting for its tasks. */
const ENV = { REMAP_SIGTERM: 'SIGQUIT' }

/** In Python, on Redis. @param python one that has what `bench/peers/celery/requirements.txt` names */
export function celeryBy(python: string): Contender {
  return {
    name: NAME,
    isSplit: true,
    scenarios: ['lateness'],
    comparison: {
      setup:
        'Celery 5.7 (Python), Redis; uvicorn with uvloop before it, one message a request, for it has no batch; a pool of threads, urllib3 with kept connections, no results',
      lacks:
        'calls over HTTP (the worker is ours), a limit of calls at once per queue, dead letters with replay, history, signed calls, teams; jobs of later wait in the memory of a worker',
      better:
        'runs any Python code; chains and groups of tasks, priorities, rate limits, other brokers than Redis',
    },
    open: async (folder) => {
      const redis = await startRedisServer(folder)
      const program = (file: string) => ({ command: python, args: [join(PEERS, 'celery', file)], env: ENV })
      const options = { redisPort: redis.port }
      const peer = { name: NAME, intake: program('api.py'), worker: program('worker.py'), options }
      return openSplitStand(peer, redis, folder)
    },
  }
}
