import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../harness/ports.ts'
import { logTail, startProgram, untilReady, type Program } from '../harness/processes.ts'
import type { RedisServer } from '../harness/redis-server.ts'
import { padded, type Contender, type FillOptions, type Stand, type WorkOptions } from './contender.ts'

const PEERS = join(import.meta.dirname, '../peers')
const FILL_WITHIN_MS = 180_000
const MANY_WORKERS_READY_MS = 60_000

/** One `queue.add` a request. */
export const bullmq: Contender = contender('bullmq', false)
/** The requests of one turn go in by one `addBulk`, as a careful user would write it. */
export const bullmqAddBulk: Contender = contender('bullmq_add_bulk', true)

function contender(name: string, isBulk: boolean): Contender {
  return {
    name,
    isSplit: true,
    open: async (redis, folder) => new BullmqStand(redis, folder, await freePort(), isBulk),
  }
}

class BullmqStand implements Stand {
  readonly redis: RedisServer
  readonly #folder: string
  readonly #port: number
  readonly #isBulk: boolean
  readonly #programs: Program[] = []

  constructor(redis: RedisServer, folder: string, port: number, isBulk: boolean) {
    this.redis = redis
    this.#folder = folder
    this.#port = port
    this.#isBulk = isBulk
  }

  async startIntake(): Promise<void> {
    await this.#start('bullmq-api', { port: this.#port, isBulk: this.#isBulk })
  }

  startWork(options: WorkOptions): Promise<Program> {
    return this.#start('bullmq-worker', { ...options })
  }

  load(targetUrl: string, delaySeconds: number) {
    const body = { queue: 'bench', url: targetUrl, ...(delaySeconds > 0 ? { delay: delaySeconds } : {}) }
    return { url: this.#intakeUrl, headers: { 'Content-Type': 'application/json' }, body: padded(body) }
  }

  pacedPlan(targetOrigin: string) {
    const body = padded({ queue: 'bench', url: `${targetOrigin}/due?due={due}`, run_at: '{due_iso}' })
    return { url: this.#intakeUrl, headers: { 'Content-Type': 'application/json' }, body }
  }

  async fill(options: FillOptions): Promise<void> {
    const plan = {
      ...options,
      redisPort: this.redis.port,
      body: padded({ queue: 'bench', url: options.targetUrl }),
    }
    await this.#run('bullmq-fill', plan)
  }

  async makeLimitedQueues(count: number, limit: number): Promise<void> {
    await this.#run('bullmq-queues', { count, limit, redisPort: this.redis.port })
  }

  async makeIdleQueues(count: number): Promise<void> {
    await this.#run('bullmq-queues', { count, limit: null, redisPort: this.redis.port })
  }

  async isAtRest(): Promise<boolean> {
    const { client } = this.redis
    return (await client.llen('bull:bench:active')) === 0 && (await client.llen('bull:q0:active')) === 0
  }

  cpuSeconds(): number {
    return this.#programs.reduce((sum, program) => sum + program.cpuSeconds(), 0)
  }

  async close(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()))
  }

  get #intakeUrl(): string {
    return `http://127.0.0.1:${this.#port}/api/jobs`
  }

  async #start(name: string, options: object): Promise<Program> {
    const program = startProgram({
      name,
      command: process.execPath,
      args: programArguments(name, { ...options, redisPort: this.redis.port }),
      folder: this.#folder,
    })
    this.#programs.push(program)
    await untilReady(program, () => logTail(program).includes('READY'), MANY_WORKERS_READY_MS)
    return program
  }

  async #run(name: string, options: object): Promise<void> {
    await promisify(execFile)(process.execPath, programArguments(name, options), { timeout: FILL_WITHIN_MS })
  }
}

function programArguments(name: string, options: object): string[] {
  return [join(PEERS, `${name}-process.ts`), JSON.stringify(options)]
}
