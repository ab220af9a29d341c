/** The users of Redis that docs/install.md gives to each role are enough for it, and no more. */
import { createSecretKey, randomBytes } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createSettingsCompiler } from '../../../src/redis/control/compiler/settings-compiler.ts'
import { SHARD_TAGS } from '../../../src/redis/base/layout/shard-tags.ts'
import { createNamespaceClaims } from '../../../src/redis/control/namespaces/namespace-claims.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import { openEngine } from '../../support/engine/engine.ts'
import { startInstallation, TOKEN, type Installation } from '../../support/engine/installation.ts'
import { anApiToken } from '../../support/principals.ts'
import { runProgram } from '../../support/servers/processes.ts'
import { statuses } from '../../support/targets/target.ts'
import { startCluster } from '../../support/redis/redis-cluster.ts'
import {
  CREDENTIALS_ALONE,
  credentialsOf,
  PASSWORDS,
  USER_RULES,
  usersFile,
  WRITTEN_USERS,
  type UserRole,
} from '../../support/redis/redis-users.ts'
import { freePort } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'

const SOURCE = new URL('../../../src/redis/', import.meta.url)
const source = (path: string) => readFileSync(new URL(path, SOURCE), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'punctual-users-'))
let here: Installation
let urlOf: (role: UserRole) => string

beforeAll(async () => {
  const port = await freePort()
  const file = join(folder, 'users.acl')
  writeFileSync(file, usersFile())
  urlOf = (role) => `redis://${credentialsOf(role)}127.0.0.1:${port}`
  here = await startInstallation({
    redis: { port, settings: ['--aclfile', file] },
    apiEnv: { PUNCTUAL_REDIS_URL: `redis://${CREDENTIALS_ALONE}127.0.0.1:${port}` },
    executorEnv: { PUNCTUAL_REDIS_URL: urlOf('executor') },
  })
})
afterAll(async () => {
  await here.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What Redis has denied to anyone. */
async function denials(): Promise<string> {
  return JSON.stringify(await here.redis.client.call('ACL', 'LOG'))
}

test('the page has a user for each role, and none for others', () => {
  expect(WRITTEN_USERS).toHaveLength(4)
  expect(USER_RULES.map((rule) => rule.split(' ')[1])).toEqual(
    Object.keys(PASSWORDS).map((role) => `punctual-${role}`),
  )
})

test('jobs, retries, crons, searches and lists go on, and nothing is denied', async () => {
  const { client, target } = here
  const send = async (method: string, path: string, body?: object) => {
    const answer = await client.send<Record<string, unknown>>(method, path, body)
    expect([method, path, answer.status]).toEqual([
      method,
      path,
      expect.toSatisfy((code: number) => code < 300),
    ])
    return answer.body
  }
  const url = `${target.url}/job`
  const { job_id: id } = await client.push({ queue: 'work', url })
  await client.push({ queue: 'work', url, delay: 3600 })
  const failing = await client.push({ queue: 'failing', url: 'http://127.0.0.1:9/', retries_enabled: false })
  await send('POST', '/api/crons', { name: 'nightly', url, cron_expression: '0 3 * * *' })
  expect(await client.ended(id)).toMatchObject({ status: 'completed' })
  expect(await client.ended(failing.job_id)).not.toMatchObject({ status: 'completed' })
  for (const path of [
    '/api/jobs',
    '/api/jobs?host=127.0.0.1',
    '/api/queues',
    '/api/crons',
    '/api/alerts',
    '/api/audit',
    '/api/team',
    '/api/status',
    '/api/sessions',
    '/api/team/sessions',
  ]) {
    await send('GET', path)
  }
  expect(await denials()).toBe('[]')
})

/** All that executors do on their own: without it they would only be asked for what others have made ready. */
test('retries, callbacks, alerts, runs, bulks and windows are done, and nothing is denied', async () => {
  const { client, target } = here
  const made = async <T>(path: string, body: object): Promise<T> => {
    const answer = await client.send<T>('POST', path, body)
    expect([path, answer.status]).toEqual([path, expect.toSatisfy((code: number) => code < 300)])
    return answer.body
  }
  const channels = [
    { name: 'ops', type: 'webhook', alertTypes: ['failure'], url: `${target.url}/told` },
  ] as const
  const policy = { egressAllow: [], signingSecrets: ['whsec_c2VjcmV0'], channels }
  await here.withCompiler((compiler) => compiler.putTeam('default', policy))
  target.route('/once', statuses(500, 200))
  target.route('/never', statuses(500))
  await client.makeQueue('alarmed', { alerts_enabled: true })
  const callback = { callback_url: `${target.url}/called-back` }
  const mended = await client.push({
    queue: 'alarmed',
    url: `${target.url}/once`,
    retry_delays: [1],
    ...callback,
  })
  const dead = await client.push({
    queue: 'alarmed',
    url: `${target.url}/never`,
    retry_delays: [1],
    ...callback,
  })
  const cron = { name: 'now', url: `${target.url}/tick`, cron_expression: '0 0 1 1 *' }
  const { id: cronId } = await made<{ id: number }>('/api/crons', cron)
  await made(`/api/crons/${cronId}/run`, {})
  const window = { name: 'night', start_at: '2030-01-01T00:00:00Z', end_at: '2030-01-01T01:00:00Z' }
  await made('/api/maintenance-windows', window)
  expect(await client.ended(mended.job_id, 30_000)).toMatchObject({ final_status: 'success' })
  expect(await client.ended(dead.job_id, 30_000)).toMatchObject({ final_status: 'dead_lettered' })
  await made('/api/bulk', { action: 'replay', filter: { queue: 'alarmed', status: 'dead_lettered' } })
  const arrived = (path: string, count: number) =>
    until(`${count} at ${path}`, () => target.arrivals(path).length >= count, 60_000)
  await arrived('/never', 3)
  await arrived('/called-back', 2)
  await arrived('/told', 1)
  await arrived('/tick', 1)
  await made(`/api/queues/${dead.queue_id}/purge`, {})
  const events = new AbortController()
  const stream = await fetch(`${here.api.url}/api/events`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    signal: events.signal,
  })
  expect(stream.status).toBe(200)
  await stream.body?.getReader().read()
  events.abort()
  for (const path of ['/api/stats', '/api/bulk', `/api/crons/${cronId}/runs`, '/api/jobs/dead-letter-groups'])
    expect([path, (await client.send('GET', path)).status]).toEqual([path, 200])
  expect(await here.inspectAtRest()).toEqual([])
  expect(await denials()).toBe('[]')
}, 120_000)

test('every command of the program is in the rules of the users that send it', async () => {
  const redis = here.redis.client
  const inCategory = new Map<string, ReadonlySet<string>>()
  for (const [, category = ''] of USER_RULES.join(' ').matchAll(/[-+]@(\w+)/g)) {
    const names = category === 'all' ? [] : ((await redis.call('ACL', 'CAT', category)) as string[])
    inCategory.set(category, new Set(names))
  }
  const isGiven = (rule: string, command: string): boolean =>
    rule.split(' ').reduce((given, word) => {
      const [, sign, at, name = ''] = /^([-+])(@?)([\w|]+)$/.exec(word) ?? []
      const matches = at === '@' ? name === 'all' || inCategory.get(name)?.has(command) : name === command
      return matches === true ? sign === '+' : given
    }, false)
  const ofClient = /^export type RedisConnection = Pick<\n  Redis,\n(.*?)^> &/ms.exec(
    source('base/client/connection.ts'),
  )
  const sent = [...(ofClient?.[1] ?? '').matchAll(/'(\w+)'/g)].map(([, name = '']) => name)
  const inScripts = globSync('**/*.lua', { cwd: SOURCE }).flatMap((path) =>
    [...source(path).matchAll(/\bp?call\(\s*'(\w+)'/g)].map(([, name = '']) => name.toLowerCase()),
  )
  const commands = new Set([...sent, ...inScripts].filter((name) => name !== 'disconnect'))
  expect(commands.size).toBeGreaterThan(60)
  const missing = USER_RULES.map((rule) => [...commands].filter((command) => !isGiven(rule, command)))
  // Only the doctor looks at all keys, and an API waits for nothing that a wake hint tells. No user may see settings of the
  // server: a role that cannot read appendfsync says so.
  expect(missing).toEqual([['config'], ['config', 'scan', 'subscribe', 'unsubscribe'], ['config', 'scan']])
})

test('a Cluster takes the same users', async () => {
  const nodes = await startCluster()
  for (const { client } of nodes)
    for (const rule of USER_RULES) await client.call('ACL', 'SETUSER', ...rule.split(' ').slice(1))
  try {
    for (const role of Object.keys(PASSWORDS) as UserRole[]) {
      const url = nodes[0].url.replace('redis://', `redis://${credentialsOf(role)}`)
      const { engine, close } = await openEngine(url)
      expect(await createQueueStore(engine).getByName('default', 'none')).toBe(null)
      close()
    }
    const logs = await Promise.all(nodes.map(({ client }) => client.call('ACL', 'LOG')))
    expect(logs.flat()).toEqual([])
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
  }
})

test('a role with the user of another says in one line what it lacks', async () => {
  const executor = runProgram(['executor'], { ...here.env, PUNCTUAL_REDIS_URL: urlOf('api') })
  expect(await executor.exited).toEqual({ code: 2, signal: null })
  expect(executor.errorLines).toEqual([
    expect.stringMatching(
      /^punctual: Redis refuses what this role needs: NOPERM .*subscribe.*"Users of Redis"/,
    ),
  ])
  await here.redis.client.call('ACL', 'LOG', 'RESET')
})

test('an API notes whose the data of a team is, and changes no such note', async () => {
  const { engine, close } = await openEngine(urlOf('api'))
  const claims = createNamespaceClaims(engine)
  expect(await claims.claim('shop', 'uid-1')).toBe('uid-1')
  expect(await claims.claim('shop', 'uid-2')).toBe('uid-1')
  close()
  expect(await denials()).toBe('[]')
})

test.each(['api', 'executor'] as const)(
  'a user of the %s without a key to read ends its start',
  async (role) => {
    const rule = USER_RULES.find((line) => line.includes(`-${role} `)) ?? expect.fail()
    const [, name = '', ...rights] = rule.replace(' %R~punctual:own-addresses', '').split(' ')
    await here.redis.client.call('ACL', 'SETUSER', `${name}-before`, ...rights)
    const program = runProgram([role], {
      ...here.env,
      PUNCTUAL_REDIS_URL: urlOf(role).replace(`${name}:`, `${name}-before:`),
    })
    expect(await program.exited).toEqual({ code: 2, signal: null })
    expect(program.errorLines).toEqual([
      expect.stringMatching(/^punctual: Redis refuses what this role needs: NOPERM .*"Users of Redis"/),
    ])
    await here.redis.client.call('ACL', 'LOG', 'RESET')
  },
)

test('a controller writes its settings, and the doctor looks', async () => {
  const engine = await openEngine(urlOf('controller'))
  const box = new SecretBox(createSecretKey(randomBytes(32)))
  const compiler = createSettingsCompiler({ engine: engine.engine, box, epoch: null })
  await compiler.putToken(anApiToken('tests', { team: 'other', sha256Hex: 'a'.repeat(64) }))
  expect(await inspect(engine.engine)).toEqual([])
  engine.close()
  const doctor = runProgram(['doctor', '--json'], { ...here.env, PUNCTUAL_REDIS_URL: urlOf('controller') })
  expect(await doctor.exited).toMatchObject({ code: 0 })
  expect(await denials()).toBe('[]')
})

describe.each(Object.keys(PASSWORDS) as UserRole[])('the user of the %s', (role) => {
  let client: Redis
  beforeAll(() => {
    client = new Redis(urlOf(role), { protocol: 2, lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => undefined)
  })
  afterAll(async () => {
    client.disconnect()
    await here.redis.client.call('ACL', 'LOG', 'RESET')
  })
  const refusal = ([name = '', ...args]: readonly string[]): Promise<string> =>
    client.call(name, ...args).then(
      () => 'done',
      (error: unknown) =>
        /NOPERM|permissions|can't run this command/.test(String(error)) ? 'refused' : String(error),
    )

  test.each([
    ['FLUSHALL'],
    ['CONFIG', 'GET', 'requirepass'],
    ['CONFIG', 'SET', 'appendonly', 'no'],
    ['FUNCTION', 'FLUSH'],
    ['SCRIPT', 'FLUSH'],
    ['SHUTDOWN', 'NOSAVE'],
    ['KEYS', '*'],
    ['ACL', 'SETUSER', 'me', 'on'],
    ['REPLICAOF', 'NO', 'ONE'],
    ['GET', 'of:others'],
    ['EVAL', "return redis.call('GET', KEYS[1])", '1', 'of:others'],
    ['EVAL', "return redis.call('FLUSHALL')", '0'],
    ['SUBSCRIBE', 'of:others'],
  ])('may not %s %s', async (...command) => {
    expect(await refusal(command)).toBe('refused')
  })

  const LEADER = ['controller']
  const PEOPLE = ['controller', 'api']
  const ALL = ['controller', 'api', 'executor']
  test.each<[readonly string[], readonly string[]]>([
    [['SCAN', '0'], LEADER],
    [['RANDOMKEY'], LEADER],
    [['DBSIZE'], LEADER],
    ...['teams', 'tokens', 'secrets', 'windows', 'own-addresses'].flatMap((name) => [
      [['HGETALL', `punctual:${name}`], ALL] as [string[], string[]],
      [['HDEL', `punctual:${name}`, 'none'], LEADER] as [string[], string[]],
      [['EVAL', "return redis.call('HDEL', KEYS[1], 'none')", '1', `punctual:${name}`], LEADER] as [
        string[],
        string[],
      ],
    ]),
    [['HGETALL', 'punctual:namespaces'], PEOPLE],
    [['HSETNX', 'punctual:namespaces', 'noted', '0 uid'], PEOPLE],
    [['HSET', 'punctual:namespaces', 'changed', '0 uid'], LEADER],
    [['HDEL', 'punctual:namespaces', 'none'], LEADER],
    [['HGETALL', 'punctual:{punctual:tokens}:teams'], LEADER],
    [['HGETALL', `punctual:{h${'a'.repeat(39)}-xy}:session`], PEOPLE],
    [['HDEL', `punctual:{${'a'.repeat(43)}}:code`, 'none'], PEOPLE],
    [['HGETALL', 'punctual:used'], PEOPLE],
    [['HGETALL', 'punctual:meta'], ALL],
    ...[0, 63].map(
      (at) => [['HDEL', `punctual:{${SHARD_TAGS[at]}}:set`, 'none'], ALL] as [string[], string[]],
    ),
  ])('%j is for %j', async (command, roles) => {
    expect(await refusal(command)).toBe(roles.includes(role) ? 'done' : 'refused')
  })
})
