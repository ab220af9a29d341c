import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { BenchError } from '../harness/bench-error.ts'
import { runPushPlan } from '../harness/load.ts'
import { freePort } from '../harness/ports.ts'
import { logTail, startProgram, untilReady, type Program } from '../harness/processes.ts'
import { startRedisServer, type RedisServer } from '../harness/redis-server.ts'
import { SUBMITTED_BYTES, type Contender, type FillOptions, type Stand } from './contender.ts'

const PROCESS = join(import.meta.dirname, '../peers/quirrel/server-process.mjs')
const FILL_WITHIN_MS = 180_000
const CONNECTIONS = 64
/** Its package names 14 to 20. */
const NODE_MAJOR_MIN = 14
const NODE_MAJOR_MAX = 20

/** Quirrel takes in and calls in one process. @param node the path of a Node it supports */
export function quirrelOn(node: string): Contender {
  return {
    name: 'quirrel',
    isSplit: false,
    scenarios: ['lateness'],
    comparison: {
      setup:
        'Quirrel 1.14, Redis, Node 20, which it needs; one process; its rate limit lifted, its own 100 calls at once',
      lacks:
        'a limit of calls at once per queue, a list of queues, dead letters with replay, history of calls, teams; the process that calls takes in too',
      better: 'one process to run; jobs are overridden by their id; clients for frameworks of web servers',
    },
    open: async (folder) =>
      new QuirrelStand(await startRedisServer(folder), { folder, node, port: await freePort() }),
  }
}

/** The first Node on PATH that Quirrel supports and that is not an npm package; null when there is none. */
export function findQuirrelNode(path: string): string | null {
  for (const folder of path.split(delimiter)) {
    if (folder === '' || folder.includes('node_modules')) continue
    const candidate = join(folder, 'node')
    try {
      accessSync(candidate, constants.X_OK)
      const major = Number(/^v(\d+)\./.exec(execFileSync(candidate, ['-v'], { encoding: 'utf8' }))?.[1])
      if (major >= NODE_MAJOR_MIN && major <= NODE_MAJOR_MAX) return candidate
    } catch {
      // Not there, or it does not run.
    }
  }
  return null
}

class QuirrelStand implements Stand {
  readonly store: RedisServer
  readonly #place: { folder: string; node: string; port: number }
  #program: Program | null = null
  #concurrency = 0

  constructor(redis: RedisServer, place: { folder: string; node: string; port: number }) {
    this.store = redis
    this.#place = place
  }

  async startIntake(): Promise<void> {
    await this.startWork({ concurrency: this.#concurrency === 0 ? 100 : this.#concurrency })
  }

  async startWork({ concurrency }: { concurrency: number }): Promise<Program> {
    if (this.#program !== null) return this.#program
    this.#concurrency = concurrency
    const { folder, node, port } = this.#place
    const program = startProgram({
      name: 'quirrel',
      command: node,
      args: [PROCESS, JSON.stringify({ port, concurrency, redisUrl: this.store.url })],
      folder,
    })
    this.#program = program
    await untilReady(program, () => logTail(program).includes('READY'))
    return program
  }

  load(targetUrl: string, delaySeconds: number) {
    return {
      url: this.#urlFor(targetUrl),
      headers: { 'Content-Type': 'application/json' },
      body: bodyOf(delaySeconds > 0 ? { delay: delaySeconds * 1000 } : {}),
    }
  }

  pacedPlan(targetOrigin: string) {
    return {
      url: this.#urlFor(`${targetOrigin}/due`),
      headers: { 'Content-Type': 'application/json' },
      body: bodyOf({ id: 'due{due}-{index}', runAt: '{due_iso}' }),
    }
  }

  async fill({ count, delaySeconds, targetUrl }: FillOptions): Promise<void> {
    const { url, headers, body } = this.load(targetUrl, delaySeconds)
    const pace = { queues: 1, connections: CONNECTIONS, perSecond: null, dueInMs: 0 }
    await runPushPlan({ url, headers, body, count, ...pace }, FILL_WITHIN_MS)
  }

  makeLimitedQueues(): Promise<void> {
    return Promise.reject(new BenchError('Quirrel has no limit of calls at once per queue'))
  }

  makeIdleQueues(): Promise<void> {
    return Promise.reject(new BenchError('Quirrel has no queues without jobs'))
  }

  isAtRest(): Promise<boolean> {
    return Promise.resolve(true)
  }

  cpuSeconds(): number {
    return this.#program?.cpuSeconds() ?? 0
  }

  async close(): Promise<void> {
    await this.#program?.stop()
    await this.store.stop()
  }

  #urlFor(targetUrl: string): string {
    return `http://127.0.0.1:${this.#place.port}/queues/${encodeURIComponent(targetUrl)}`
  }
}

/** The target's address stands in the path, so the body alone has 152 bytes. */
function bodyOf(fields: Readonly<Record<string, unknown>>): string {
  const bare = JSON.stringify({ body: '', ...fields })
  return JSON.stringify({ body: 'x'.repeat(Math.max(0, SUBMITTED_BYTES - bare.length)), ...fields })
}
