import { randomBytes } from 'node:crypto'
import type { Program } from '../harness/processes.ts'
import { BUILT_MAIN, type Role, type RoleName, startRole } from '../harness/roles.ts'

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
      PUNCTUAL_QUOTA_QUEUES: '1000000',
    }
  }

  /** Where jobs are pushed, and the headers for it. */
  async startApi(): Promise<{ program: Program; url: string; headers: Record<string, string> }> {
    const { program, url } = await this.#start('api', {})
    const headers = {
      Authorization: `Bearer ${this.#env['PUNCTUAL_TOKEN']}`,
      'Content-Type': 'application/json',
    }
    return { program, url: `${url}/api/jobs`, headers }
  }

  async startExecutor(concurrency: number): Promise<Program> {
    const env = { PUNCTUAL_EXECUTOR_CONCURRENCY: String(concurrency) }
    return (await this.#start('executor', env)).program
  }

  cpuSeconds(): number {
    return this.#programs.reduce((sum, program) => sum + program.cpuSeconds(), 0)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()))
  }

  async #start(name: RoleName, env: Record<string, string>): Promise<Role> {
    const role = await startRole(name, {
      folder: this.#folder,
      main: BUILT_MAIN,
      env: { ...this.#env, ...env },
    })
    this.#programs.push(role.program)
    await role.untilReady(READY_WITHIN_MS)
    return role
  }
}
