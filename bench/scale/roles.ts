import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { freePort } from '../harness/ports.ts'
import { startProgram, untilReady, type Program } from '../harness/processes.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')
/** Twelve of them may start on a machine that does other work. */
const READY_WITHIN_MS = 120_000

/** The roles of an installation as processes. */
export class Roles {
  readonly #folder: string
  readonly #env: Readonly<Record<string, string>>
  readonly #programs: Program[] = []

  constructor(options: { folder: string; redisUrl: string; shards?: number }) {
    this.#folder = options.folder
    this.#env = {
      PUNCTUAL_REDIS_URL: options.redisUrl,
      PUNCTUAL_SHARDS: String(options.shards ?? 4),
      PUNCTUAL_TOKEN: randomBytes(24).toString('base64url'),
      PUNCTUAL_SECRETS_KEY: randomBytes(32).toString('base64'),
      PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
      PUNCTUAL_QUOTA_QUEUES: '1000000',
    }
  }

  /** Where jobs are pushed, and the headers for it. */
  async startApi(): Promise<{ program: Program; url: string; headers: Record<string, string> }> {
    const port = await freePort()
    const program = await this.#start('api', { PUNCTUAL_PORT: String(port) })
    const url = `http://127.0.0.1:${port}/api/jobs`
    await untilReady(program, () => answers(url), READY_WITHIN_MS)
    const headers = {
      Authorization: `Bearer ${this.#env['PUNCTUAL_TOKEN']}`,
      'Content-Type': 'application/json',
    }
    return { program, url, headers }
  }

  startExecutor(concurrency: number): Promise<Program> {
    return this.#start('executor', { PUNCTUAL_EXECUTOR_CONCURRENCY: String(concurrency) })
  }

  cpuSeconds(): number {
    return this.#programs.reduce((sum, program) => sum + program.cpuSeconds(), 0)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()))
  }

  async #start(role: 'api' | 'executor', env: Record<string, string>): Promise<Program> {
    const opsPort = await freePort()
    const profiles = process.env['PROFILE_DIR']
    const program = startProgram({
      name: `${role}-${opsPort}`,
      command: process.execPath,
      args: [...(profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`]), MAIN, role],
      folder: this.#folder,
      env: { ...this.#env, ...env, PUNCTUAL_OPS_PORT: String(opsPort) },
    })
    this.#programs.push(program)
    await untilReady(program, () => answers(`http://127.0.0.1:${opsPort}/readyz`), READY_WITHIN_MS)
    return program
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ status }) => status < 500,
    () => false,
  )
}
