/** The chart's readiness probe of the bundled Redis, which gives it the users of the roles, beside a real server. */
import { execFile } from 'node:child_process'
import { createSecretKey, randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createLeaderEpochs } from '../../../src/redis/control/leader-epochs.ts'
import { podEnvironment, writeAccount } from '../../support/cluster/pod-environment.ts'
import { openEngine } from '../../support/engine/engine.ts'
import { startInstallation, TOKEN, type Installation } from '../../support/engine/installation.ts'
import { type FakeApiServer, startFakeApiServer } from '../../support/fake-api/fake-api-server.ts'
import { USER_RULES } from '../../support/redis/redis-users.ts'
import { type ApiClient, createApiClient } from '../../support/servers/api-client.ts'
import { runProgram } from '../../support/servers/processes.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'

const SCRIPT = readFileSync(new URL('../../../charts/punctual/files/redis-users.sh', import.meta.url), 'utf8')
const ROLES = ['api', 'executor'] as const
/** The password of the server's own user, by which pods of the version before log in. */
const OWN = 'of-the-server'

const folder = mkdtempSync(join(tmpdir(), 'punctual-probe-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Pod {
  /** Runs the probe. @param env what the Secrets gave when the container started */
  probe(env?: Record<string, string>): Promise<{ code: number; out: string }>
  /** Brings a Secret, as the kubelet does when it is made. */
  bring(role: (typeof ROLES)[number], password: string): void
  loginOf(role: string, password: string): Promise<string>
}

/** @param cli what the probe finds as redis-cli */
function podOf(port: number, cli = `exec redis-cli -p ${port} "$@"`): Pod {
  const place = mkdtempSync(join(folder, 'pod-'))
  const [bin, users] = [join(place, 'bin'), join(place, 'users')]
  for (const one of [bin, users]) mkdirSync(one)
  const path = process.env['PATH'] ?? ''
  writeFileSync(join(bin, 'redis-cli'), `#!/bin/sh\nPATH=${path}\n${cli}\n`)
  chmodSync(join(bin, 'redis-cli'), 0o755)
  return {
    probe: async (env = {}) => {
      const given = { PATH: `${bin}${delimiter}${path}`, USERS_FOLDER: users, REDISCLI_AUTH: OWN, ...env }
      const run = promisify(execFile)('sh', ['-c', SCRIPT], { env: given })
      return run.then(
        ({ stdout }) => ({ code: 0, out: stdout.trim() }),
        (error: unknown) => {
          const { code, stdout } = error as { code: number; stdout: string }
          return { code, out: stdout.trim() }
        },
      )
    },
    bring: (role, password) => writeFileSync(join(users, role), password),
    loginOf: async (username, password) => {
      const client = new Redis({ port, protocol: 2, enableReadyCheck: false, retryStrategy: () => null })
      const end = await client.call('AUTH', username, password).catch(String)
      client.disconnect()
      return String(end)
    },
  }
}

const READY = { code: 0, out: 'PONG' }
const REFUSED = expect.stringContaining('WRONGPASS') as string

test('the rules of the probe are those of the page', () => {
  const given = [...SCRIPT.matchAll(/^give (\w+) "\$\w+" '([^']+)'$/gm)].map(([, role, rules]) => [
    role,
    rules,
  ])
  const written = USER_RULES.map((rule) => /^user punctual-(\w+) on >\w+ (.+)$/.exec(rule)?.slice(1))
  expect(given).toEqual(written.filter((one) => one?.[0] !== 'controller'))
  expect(given.map(([role]) => role)).toEqual(ROLES)
})

describe('a Redis with a password of its own', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis({ password: OWN })
  })
  afterAll(() => redis.stop())

  test('is ready without users while their Secrets are not there, and with them once they come', async () => {
    const pod = podOf(redis.port)
    expect(await pod.probe()).toEqual(READY)
    expect(await pod.loginOf('punctual-api', '')).toEqual(REFUSED)
    pod.bring('executor', 'late')
    expect(await pod.probe()).toEqual(READY)
    expect(await pod.loginOf('punctual-executor', 'late')).toBe('OK')
    expect(await pod.loginOf('punctual-api', '')).toEqual(REFUSED)
    // Pods of the version before.
    expect(await pod.loginOf('default', OWN)).toBe('OK')
    expect(await pod.loginOf('default', '')).toEqual(REFUSED)
  })

  test('takes what was there at its start, in a new installation, and any text', async () => {
    const pod = podOf(redis.port)
    const odd = `of \`it\` "all" $HOME * 'é' #1`
    expect(await pod.probe({ API_PASSWORD: odd, EXECUTOR_PASSWORD: 'there' })).toEqual(READY)
    expect(await pod.loginOf('punctual-api', odd)).toBe('OK')
    expect(await pod.loginOf('punctual-executor', 'there')).toBe('OK')
    expect(JSON.stringify(await redis.client.call('ACL', 'LIST'))).not.toContain('$HOME')
    // A Secret that was made anew: pods that start have its password.
    pod.bring('api', 'anew')
    await pod.probe({ API_PASSWORD: odd })
    expect(await pod.loginOf('punctual-api', 'anew')).toBe('OK')
    expect(await pod.loginOf('punctual-api', odd)).toEqual(REFUSED)
  })

  test('has the same users however often it is asked, and cuts nobody', async () => {
    const pod = podOf(redis.port)
    const secrets = { API_PASSWORD: 'a', EXECUTOR_PASSWORD: 'b' }
    await pod.probe(secrets)
    const listed = await redis.client.call('ACL', 'LIST')
    const heard: string[] = []
    const client = new Redis({ port: redis.port, username: 'punctual-executor', password: 'b', protocol: 2 })
    await client.subscribe('punctual:wake')
    client
      .on('message', (_channel, message) => void heard.push(message))
      .on('close', () => void heard.push('cut'))
    for (let i = 0; i < 3; i += 1) expect(await pod.probe(secrets)).toEqual(READY)
    expect(await redis.client.call('ACL', 'LIST')).toEqual(listed)
    await redis.client.publish('punctual:wake', 'still here')
    await until('the message is heard', async () => heard.length > 0)
    expect(heard).toEqual(['still here'])
    client.disconnect()
  })

  test('stays ready when it takes no users, and is not ready when it does not answer', async () => {
    const refusing = `[ "$1" = acl ] && exit 1; exec redis-cli -p ${redis.port} "$@"`
    expect(await podOf(redis.port, refusing).probe({ API_PASSWORD: 'x' })).toEqual(READY)
    expect((await podOf(1).probe({ API_PASSWORD: 'x' })).code).not.toBe(0)
  })
})

describe('the roles', () => {
  let here: Installation
  let server: FakeApiServer
  /** Of the API that has a user. */
  let byUser: ApiClient
  beforeAll(async () => {
    here = await startInstallation({ executors: 0 })
    server = await startFakeApiServer()
    const { engine, close } = await openEngine(here.redis.url)
    await createLeaderEpochs(engine, new SecretBox(createSecretKey(randomBytes(32)))).begin()
    close()
    await podOf(here.redis.port).probe({ API_PASSWORD: 'a', EXECUTOR_PASSWORD: 'b', REDISCLI_AUTH: '' })
  }, 30_000)
  afterAll(async () => {
    await here.close()
    await server.close()
  })

  const envOf = (role: (typeof ROLES)[number], password: string) => ({
    PUNCTUAL_REDIS_URL: here.redis.url.replace('redis://', `redis://punctual-${role}@`),
    PUNCTUAL_REDIS_PASSWORD: password,
  })

  test('take jobs and do them as their users, and nothing is denied', async () => {
    await here.startExecutor(envOf('executor', 'b'))
    const access = { url: server.url, token: 'token-1', caPem: server.authority }
    const { url } = await here.startApi({
      ...envOf('api', 'a'),
      ...podEnvironment(access, writeAccount(access, join(folder, 'account'))),
      PUNCTUAL_RESOURCES: 'kubernetes',
      PUNCTUAL_SECRETS_KEY: '',
      // The controller writes it, and the API of a folder has.
      PUNCTUAL_TOKEN: '',
    })
    byUser = createApiClient(url, TOKEN)
    const { job_id: id } = await byUser.push({ queue: 'work', url: `${here.target.url}/job` })
    expect(await byUser.ended(id)).toMatchObject({ status: 'completed' })
    expect(await here.redis.client.call('ACL', 'LOG')).toEqual([])
    const users = String(await here.redis.client.call('CLIENT', 'LIST'))
    for (const role of ROLES) expect(users).toContain(`user=punctual-${role} `)
  })

  test('outlive a Redis that has forgotten its users, until the probe has set them again', async () => {
    const { client: redis } = here.redis
    const logins = () => redis.call('ACL', 'LOG') as Promise<unknown[]>
    // It cuts their connections, as a restart of Redis does.
    await redis.call('ACL', 'DELUSER', 'punctual-api', 'punctual-executor')
    await until('both have tried to come back', async () => {
      const tried = JSON.stringify(await logins())
      return ROLES.every((role) => tried.includes(`punctual-${role}`))
    })
    await redis.call('ACL', 'LOG', 'RESET')
    await podOf(here.redis.port).probe({ API_PASSWORD: 'a', EXECUTOR_PASSWORD: 'b', REDISCLI_AUTH: '' })
    const { job_id: id } = await until('the API takes jobs again', async () => {
      const answer = await byUser.send<{ job_id: number }>('POST', '/api/jobs', {
        queue: 'work',
        url: `${here.target.url}/after`,
      })
      return answer.status === 201 ? answer.body : null
    })
    expect(await byUser.ended(id)).toMatchObject({ status: 'completed' })
    expect([here.executors[0]?.isRunning(), here.programs.at(-1)?.isRunning()]).toEqual([true, true])
  })

  test('that come before their user are refused in one line, and come again', async () => {
    const early = runProgram(['executor'], { ...here.env, ...envOf('executor', 'not-yet') })
    expect(await early.exited).toEqual({ code: 2, signal: null })
    expect(early.errorLines).toEqual([expect.stringContaining('WRONGPASS')])
  })
})
