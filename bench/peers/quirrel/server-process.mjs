/** Quirrel's server and worker in one process, as its own start script runs them; JavaScript, as it runs on Node 20. */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { runQuirrel } = require('../node_modules/quirrel/dist/cjs/src/api/index.js')
const { createRedisFactory } = require('../node_modules/quirrel/dist/cjs/src/api/shared/create-redis.js')
const { port, concurrency, redisUrl } = JSON.parse(process.argv[2])

await runQuirrel({
  host: '127.0.0.1',
  port,
  concurrency,
  redisFactory: createRedisFactory(redisUrl),
  logger: 'none',
  disableTelemetry: true,
  // Its default of 10,000 requests a minute would be all that is measured.
  rateLimiter: { max: 1e9 },
})
process.stdout.write('READY\n')
process.once('SIGTERM', () => process.exit())
