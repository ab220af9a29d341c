import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../../support/cluster/kind-cluster.ts'
import { freePort } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { startOwnTarget, type OwnTarget } from './own-target.ts'
import { readmeBlocks } from './readme-section.ts'

/** As scripts/e2e.sh makes it. */
const IMAGE = 'punctual:e2e-standalone'
const READY_TIMEOUT_MS = 90_000
const HARDENED = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']

const name = `punctual-e2e-${randomBytes(3).toString('hex')}`
let port: number
let target: OwnTarget

const docker = (...given: readonly string[]) => runCommand('docker', given)
const inContainer = (...given: readonly string[]) => docker('exec', name, ...given)
/** What standard output and error held, in one text. */
const logs = () => runCommand('bash', ['-c', 'docker logs "$0" 2>&1', name])

/** The README's command on a container, a volume and a port of this run; what has ended stays to be looked at. */
function runArguments(): string[] {
  const [command = ''] = readmeBlocks('docker run')
  const words = command.replaceAll('\\\n', ' ').trim().split(/\s+/).slice(2)
  const kept = words.filter((word) => word !== '--rm')
  return kept.map((word) =>
    word
      .replace(/^punctual:\d.*-standalone$/, IMAGE)
      .replace(/^punctual:\/data$/, `${name}:/data`)
      .replace(/^punctual$/, name)
      .replace('127.0.0.1:8080:8080', `127.0.0.1:${port}:8080`),
  )
}

async function run(...options: readonly string[]): Promise<void> {
  await docker('run', '--detach', ...options, ...runArguments())
  await healthy()
}

async function healthy(): Promise<void> {
  const state = async () => (await docker('inspect', '--format', '{{.State.Health.Status}}', name)).trim()
  await until(`${name} is healthy`, async () => (await state()) === 'healthy', READY_TIMEOUT_MS)
}

/** The id of a job that has called the target. */
async function pushed(path: string): Promise<string> {
  const url = `http://host.docker.internal:${target.port}${path}`
  const said = await inContainer('punctual', 'push', 'hello', url, '--wait', '30')
  return /^job (\d+) in queue/.exec(said)?.[1] ?? expect.fail(said)
}

const isThere = async (id: string) =>
  (await inContainer('punctual', 'job', id)).includes('completed, success')

export function standaloneImage(): void {
  beforeAll(async () => {
    port = await freePort()
    target = await startOwnTarget()
  })
  afterAll(async () => {
    await docker('rm', '--force', '--volumes', name).catch(() => undefined)
    await docker('volume', 'rm', '--force', name)
    await target.close()
  })

  test('two commands of the README bring a first job to a program of this machine', async () => {
    const [, push = ''] = readmeBlocks('docker')
      .filter((text) => !text.startsWith('docker compose'))
      .map((text) => text.trim())
    await run()
    const words = push
      .replace('docker exec punctual', `docker exec ${name}`)
      .replace(':3000/', `:${target.port}/`)
    await runCommand('bash', ['-c', words])
    expect(target.calls).toEqual(['POST /'])
  })

  test('says what make run says, and names paths that are right in the container', async () => {
    const said = await logs()
    expect(said).toContain('Dashboard  http://127.0.0.1:8080/#code=')
    expect(said).toContain('Resources  /data/resources')
    expect(said).toMatch(/docker exec [0-9a-f]{12} punctual push /)
  })

  test('answers at the port of the API alone, and Redis at none', async () => {
    expect((await docker('port', name)).trim()).toBe(`8080/tcp -> 127.0.0.1:${port}`)
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
    const sockets = await inContainer('cat', '/proc/net/tcp', '/proc/net/tcp6')
    const listening = [...sockets.matchAll(/:([0-9A-F]{4}) [0-9A-F]+:0000 0A /g)].map(([, hex = '']) =>
      Number.parseInt(hex, 16),
    )
    expect([...new Set(listening)].toSorted((a, b) => a - b)).toEqual([8080, 9090])
  })

  test('both processes run as the same user, and what they keep is theirs alone', async () => {
    const owners = await inContainer(
      'sh',
      '-c',
      'stat -c "%u %n" /proc/[0-9]*/exe 2>/dev/null | cut -d " " -f 1',
    )
    expect(new Set(owners.trim().split('\n'))).toEqual(new Set(['65532']))
    const modes = await inContainer('stat', '-c', '%u %a %n', '/data/redis', '/data/token', '/data/key')
    expect(modes).toBe('65532 700 /data/redis\n65532 600 /data/token\n65532 600 /data/key\n')
  })

  test('a Redis that dies is started again with what it held', async () => {
    const id = await pushed('/before')
    await inContainer('sh', '-c', 'kill -9 "$(cat /data/redis/redis.pid)"')
    await until('Redis was started again', async () => (await logs()).split('Redis started').length > 2)
    await until('pushes are taken again', async () => await pushed('/after').catch(() => null))
    expect(await isThere(id)).toBe(true)
  })

  test('docker stop lets both end, one after the other', async () => {
    await docker('stop', name)
    expect((await docker('inspect', '--format', '{{.State.ExitCode}}', name)).trim()).toBe('0')
    expect(await logs()).toMatch(/INFO +Stopped\n$/)
    await docker('start', name)
    await healthy()
    expect(await inContainer('cat', '/data/redis/redis.log')).toContain('Redis is now ready to exit')
  })

  test('jobs outlive a container that is killed; another one needs no more than the volume to write to', async () => {
    const id = await pushed('/killed')
    await docker('rm', '--force', name)
    await run(...HARDENED)
    expect(await isThere(id)).toBe(true)
    await pushed('/hardened')
    expect(target.calls.at(-1)).toBe('POST /hardened')
  })

  test('a second container on the volume is told who has it', async () => {
    const second = ['run', '--rm', '--volume', `${name}:/data`, IMAGE]
    await expect(docker(...second)).rejects.toThrow(
      /The data folder \/data is in use by process \d+ at http:\/\/127\.0\.0\.1:8080: stop that one first/,
    )
  })

  test('the image of the cluster has no Redis, and says which one has', async () => {
    const plain = ['run', '--rm', '--env', 'PUNCTUAL_DATA_DIR=/data', 'punctual:e2e', 'standalone']
    await expect(docker(...plain)).rejects.toThrow(/Neither redis-server nor valkey-server .*-standalone/)
  })
}
