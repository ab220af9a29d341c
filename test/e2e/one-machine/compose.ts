import { randomBytes } from 'node:crypto'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../support/servers/redis-server.ts'
import { startOwnTarget, type OwnTarget } from './own-target.ts'
import { readmeBlocks } from './readme-section.ts'

const ROOT = join(import.meta.dirname, '../../..')
const COMMANDS_TIMEOUT_MS = 240_000
/** As scripts/e2e.sh makes them. */
const IMAGES = { punctual: 'punctual:e2e', redis: 'redis:7.2' }

const given = process.env['E2E_COMPOSE'] ?? ''
const folder = mkdtempSync(join(tmpdir(), 'punctual-compose-'))
const file = join(folder, 'compose.yaml')
const project = `punctual-e2e-${randomBytes(3).toString('hex')}`
let port: number
let target: OwnTarget

/** Runs a line of the README, or one like it, on this file and project. */
async function shell(command: string): Promise<string> {
  const own = `${given} --file ${file} --project-name ${project}`
  const text = command.replaceAll('docker compose', own).replaceAll('docker.internal:3000', targetHost())
  const env = { ...process.env, PUNCTUAL_PORT: String(port) }
  const limits = { timeout: COMMANDS_TIMEOUT_MS, killSignal: 'SIGKILL' } as const
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', text], { env, ...limits })).stdout
}

const targetHost = () => `docker.internal:${target.port}`
const punctual = (words: string) => shell(`docker compose exec punctual punctual ${words}`)

/** The status that the API answers to a push, asked from this machine. */
async function pushStatus(): Promise<number> {
  const token = (await shell('docker compose exec punctual cat /data/token')).trim()
  const answer = await fetch(`http://127.0.0.1:${port}/api/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ queue: 'hello', url: `http://host.${targetHost()}/` }),
  })
  await answer.body?.cancel()
  return answer.status
}

export function compose(): void {
  beforeAll(async () => {
    const text = readFileSync(join(ROOT, 'compose.yaml'), 'utf8')
    writeFileSync(
      file,
      text
        .replace(/^ +build: .*\n/m, '')
        .replace(/^( +image: )punctual:.*/m, `$1${IMAGES.punctual}`)
        .replace(/^( +image: )redis:.*/m, `$1${IMAGES.redis}`),
    )
    port = await freePort()
    target = await startOwnTarget()
  })
  beforeEach((context) => {
    if (given === '') context.skip('docker compose is neither here nor can it be built')
  })
  afterAll(async () => {
    if (given !== '') await shell('docker compose down --volumes --timeout 5')
    await target.close()
    rmSync(folder, { recursive: true })
  })

  test('two commands of the README bring a first job to a program of this machine', async () => {
    const commands = readmeBlocks('docker compose').flatMap((text) => text.trimEnd().split('\n'))
    expect(commands).toHaveLength(2)
    const startedAt = performance.now()
    for (const command of commands) await shell(command)
    const seconds = (performance.now() - startedAt) / 1000
    process.stdout.write(`From docker compose up to the end of the first job: ${seconds.toFixed(1)} s\n`)
    expect(target.calls).toEqual(['POST /'])
  })

  test('the page is served to this machine, and to no other', async () => {
    expect((await fetch(`http://127.0.0.1:${port}/`)).headers.get('content-type')).toContain('text/html')
    const published = await shell('docker compose ps --format json')
    const hosts = [...published.matchAll(/"URL":"([^"]*)"[^}]*?"PublishedPort":(\d+)/g)]
    expect(hosts.filter(([, , at]) => at !== '0').map(([, host, at]) => `${host}:${at}`)).toEqual([
      `127.0.0.1:${port}`,
    ])
  })

  test('without its Redis it refuses pushes, and goes on by itself when that is back', async () => {
    await shell('docker compose stop redis')
    expect(await pushStatus()).toBe(503)
    await shell('docker compose up --detach --wait')
    expect(await pushStatus()).toBe(201)
  })

  test('jobs, crons and the token outlive the containers', async () => {
    const token = await shell('docker compose exec punctual cat /data/token')
    const said = await punctual(`push hello http://host.${targetHost()}/kept --wait 30`)
    const [, id] = /^job (\d+) in queue/.exec(said) ?? []
    await punctual(`crons create kept '0 3 * * *' http://host.${targetHost()}/`)
    await shell('docker compose down')
    await shell('docker compose up --detach --wait')
    expect(await shell('docker compose exec punctual cat /data/token')).toBe(token)
    expect(await punctual(`job ${id}`)).toContain('completed, success')
    expect(await punctual('crons')).toMatch(/^\d+ +kept /m)
  })
}
