import { randomBytes } from 'node:crypto'
import { Pool } from 'undici'
import { BenchError } from '../harness/bench-error.ts'
import type { Program } from '../harness/processes.ts'
import { startRedisServer, type RedisServer } from '../harness/redis-server.ts'
import { BUILT_MAIN, type Role, type RoleName, startRole } from '../harness/roles.ts'
import { PUNCTUAL } from '../report/figures.ts'
import { padded, type Contender, type FillOptions, type Stand } from './contender.ts'
import { fillByPushes } from './split-stand.ts'

const CONNECTIONS = 64
/** The job that makes a queue is cancelled before it is due; what is left of it goes when it would have been due. */
const CANCELLED_WITHIN_SECONDS = 5

/** Where each role's inspector listens. */
export type InspectorPorts = Readonly<Record<RoleName, number>>

/** The real roles as processes: `punctual api` and `punctual executor`. */
export const punctual: Contender = contender(null)

/** The same with an inspector in each process, which slows it down: no other figure may come of it. */
export function inspectedPunctual(ports: InspectorPorts): Contender {
  return contender(ports)
}

function contender(inspectorPorts: InspectorPorts | null): Contender {
  return {
    name: PUNCTUAL,
    isSplit: true,
    scenarios: ['limited', 'lateness', 'batches', 'memory', 'idle', 'calls', 'recovery'],
    comparison: null,
    open: async (folder) => {
      const store = await startRedisServer(folder)
      return new PunctualStand(store, { folder, inspectorPorts })
    },
  }
}

interface Place {
  readonly folder: string
  readonly inspectorPorts: InspectorPorts | null
}

class PunctualStand implements Stand {
  readonly store: RedisServer
  readonly #place: Place
  readonly #programs: Program[] = []
  /** Of the API, once it runs. */
  #origin = ''
  readonly #env: Record<string, string>
  #workOps: string | null = null

  constructor(redis: RedisServer, place: Place) {
    this.store = redis
    this.#place = place
    this.#env = {
      PUNCTUAL_REDIS_URL: redis.url,
      PUNCTUAL_TOKEN: randomBytes(24).toString('base64url'),
      PUNCTUAL_SECRETS_KEY: randomBytes(32).toString('base64'),
      PUNCTUAL_QUOTA_QUEUES: 'none',
    }
  }

  async startIntake(): Promise<void> {
    this.#origin = (await this.#start('api', {})).url
  }

  async startWork({ concurrency }: { concurrency: number }): Promise<Program> {
    const { program, ops } = await this.#start('executor', {
      PUNCTUAL_EXECUTOR_CONCURRENCY: String(concurrency),
    })
    this.#workOps = ops
    return program
  }

  load(targetUrl: string, delaySeconds: number) {
    const body = { queue: 'bench', url: targetUrl, ...(delaySeconds > 0 ? { delay: delaySeconds } : {}) }
    return { url: `${this.#origin}/api/jobs`, headers: this.#headers(), body: padded(body) }
  }

  pacedPlan(targetOrigin: string) {
    const body = padded({ queue: 'bench', url: `${targetOrigin}/due?due={due}`, run_at: '{due_iso}' })
    return { url: `${this.#origin}/api/jobs`, headers: this.#headers(), body }
  }

  async fill(options: FillOptions): Promise<void> {
    await fillByPushes({ url: `${this.#origin}/api/jobs`, headers: this.#headers() }, options)
  }

  async makeLimitedQueues(count: number, limit: number): Promise<void> {
    await this.#forEachQueue(count, async (pool, queueId, jobId) => {
      await this.#request(pool, 'PATCH', `/api/queues/${queueId}`, { max_parallelism: limit })
      await this.#request(pool, 'DELETE', `/api/jobs/${jobId}`)
    })
  }

  async makeIdleQueues(count: number): Promise<void> {
    await this.#forEachQueue(count, async (pool, _queueId, jobId) => {
      await this.#request(pool, 'DELETE', `/api/jobs/${jobId}`)
    })
  }

  async isAtRest(): Promise<boolean> {
    if (this.#workOps === null) return true
    const metrics = await (await fetch(`${this.#workOps}/metrics`)).text()
    return /^punctual_calls_in_flight 0$/m.test(metrics)
  }

  cpuSeconds(): number {
    return this.#programs.reduce((sum, program) => sum + program.cpuSeconds(), 0)
  }

  async close(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()))
    await this.store.stop()
  }

  async #start(name: RoleName, env: Record<string, string>): Promise<Role> {
    const role = await startRole(name, {
      folder: this.#place.folder,
      main: BUILT_MAIN,
      nodeArgs: this.#inspectorArguments(name),
      env: { ...this.#env, ...env },
    })
    this.#programs.push(role.program)
    await role.untilReady()
    return role
  }

  #inspectorArguments(role: RoleName): string[] {
    const port = this.#place.inspectorPorts?.[role]
    return port === undefined ? [] : [`--inspect=127.0.0.1:${port}`]
  }

  #headers(): Record<string, string> {
    return {
      Authorization: `Bearer ${this.#env['PUNCTUAL_TOKEN']}`,
      'Content-Type': 'application/json',
    }
  }

  /** Makes each queue by a push that is due later; `then` tidies it away. */
  async #forEachQueue(
    count: number,
    then: (pool: Pool, queueId: number, jobId: number) => Promise<void>,
  ): Promise<void> {
    const pool = new Pool(this.#origin, { connections: CONNECTIONS, pipelining: 1 })
    let next = 0
    const worker = async (): Promise<void> => {
      while (next < count) {
        const body = { queue: `q${next++}`, url: 'http://127.0.0.1:9/call', delay: CANCELLED_WITHIN_SECONDS }
        const made = (await this.#request(pool, 'POST', '/api/jobs', body)) as {
          queue_id: number
          job_id: number
        }
        await then(pool, made.queue_id, made.job_id)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, worker))
    await pool.close()
  }

  async #request(pool: Pool, method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) {
    const answer = await pool.request({
      path,
      method,
      headers: this.#headers(),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new BenchError(`${method} ${path}: ${answer.statusCode} ${text}`)
    return text === '' ? null : (JSON.parse(text) as unknown)
  }
}
