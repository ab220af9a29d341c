/**
 * Every kind of secret, used by a controller, an API and an executor of a real cluster; nothing that somebody else may
 * read holds one: answers, logs, metrics, Events and all other objects in etcd, and Redis.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readEtcd } from '../../support/cluster/etcd.ts'
import { createApiClient, type ApiClient } from '../../support/servers/api-client.ts'
import { startOidcProvider, type OidcProvider } from '../../support/servers/oidc-provider.ts'
import { runProgram, type Program } from '../../support/servers/processes.ts'
import { freePort, type TestRedis } from '../../support/servers/redis-server.ts'
import { selfSignedCertificate } from '../../support/targets/certificates.ts'
import { startTarget, type Target } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'
import {
  type ControllerApi,
  openControllerWorld,
  type ControllerWorld,
} from '../controller/controller-world.ts'

const START_TIMEOUT_MS = 60_000
const PUBLIC_URL = 'http://127.0.0.1:1'
const canary = (name: string) => `canary-${name}-${randomBytes(12).toString('hex')}`

const SEALING_KEY = randomBytes(32)
const CERTIFICATE = selfSignedCertificate()
/** By what it is. */
const secrets = new Map<string, string>([
  ['signing secret of the team', canary('team-signing')],
  ['signing secret of a queue', canary('queue-signing')],
  ['signing secret of a cron', canary('cron-signing')],
  ['header of a cron', canary('cron-header')],
  ['header secret of the team', canary('header-secret')],
  ['header of a push', canary('pushed-header')],
  ['hook', canary('hook')],
  ['unusable value', canary('unusable')],
  ['password of Redis', canary('redis')],
  ['password of the mail server', canary('mail')],
  ['sealing key', SEALING_KEY.toString('base64')],
  ['key of the certificate', CERTIFICATE.key.split('\n')[1] ?? ''],
])
const textOf = (name: string) => secrets.get(name) ?? ''
/** Those that lie in Secrets of the namespace. */
const IN_SECRETS = [...secrets.keys()].slice(0, 8).filter((name) => name !== 'header of a push')

let world: ControllerWorld
let target: Target
let provider: OidcProvider
let client: ApiClient
let api: ControllerApi
let folder: string
const programs: Program[] = []
const opsUrls: string[] = []
/** Every answer of the API that does not give a secret to its owner. */
const answers: string[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'punctual-'))
  ;[world, target, provider] = await Promise.all([openControllerWorld(), startTarget(), startOidcProvider()])
  secrets.set('client secret of the provider', provider.clientSecret)
  const { redis } = world
  await redis.client.call(
    'ACL',
    'SETUSER',
    'canary',
    'on',
    `>${textOf('password of Redis')}`,
    '~*',
    '&*',
    '+@all',
  )
  const env = {
    PUNCTUAL_REDIS_URL: `redis://canary:${textOf('password of Redis')}@127.0.0.1:${redis.port}`,
    PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
    PUNCTUAL_LOG_LEVEL: 'debug',
  }
  const sealing = { PUNCTUAL_SECRETS_KEY: textOf('sealing key') }
  const ops = async () => {
    const port = await freePort()
    opsUrls.push(`http://127.0.0.1:${port}`)
    return { PUNCTUAL_OPS_PORT: String(port) }
  }
  const executor = runProgram(['executor'], {
    ...env,
    ...sealing,
    ...(await ops()),
    PUNCTUAL_SMTP_URL: `smtp://alerts:${textOf('password of the mail server')}@127.0.0.1:1`,
    PUNCTUAL_SMTP_FROM: 'alerts@a.test',
  })
  const controller = await world.start({ ...env, ...sealing })
  opsUrls.push(controller.opsUrl)
  api = await world.startApi({
    ...env,
    ...(await ops()),
    PUNCTUAL_PUBLIC_URL: PUBLIC_URL,
    PUNCTUAL_OIDC_ISSUER: provider.issuer,
    PUNCTUAL_OIDC_CLIENT_ID: provider.clientId,
    PUNCTUAL_OIDC_CLIENT_SECRET: provider.clientSecret,
    PUNCTUAL_OIDC_GROUP_ROLES: JSON.stringify({ devs: { [world.namespace]: 'admin' } }),
  })
  programs.push(executor, controller, api.program)
  secrets.set('token', api.token)
  client = createApiClient(api.url, api.token)
  await executor.logged('The executor holds its leases', { timeoutMs: START_TIMEOUT_MS })
}, 4 * START_TIMEOUT_MS)

afterAll(async () => {
  for (const program of programs) program.signal('SIGKILL')
  await Promise.all(programs.map(({ exited }) => exited))
  await Promise.all([target.close(), provider.close(), world.close()])
  rmSync(folder, { recursive: true, force: true })
})

async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await client.send<T>(method, path, body)
  answers.push(JSON.stringify(answer.body))
  return answer.body
}

/** A text as it is, and as Secrets and Basic authorization write it. */
function holds(bytes: Buffer | string, text: string): boolean {
  return [text, Buffer.from(text).toString('base64')].some((form) => bytes.includes(form))
}

async function redisHolds({ client: redis }: TestRedis): Promise<ReadonlyArray<readonly [string, string]>> {
  const read = async (key: string): Promise<string> => {
    switch (await redis.type(key)) {
      case 'hash':
        return JSON.stringify(await redis.hgetall(key))
      case 'list':
        return JSON.stringify(await redis.lrange(key, 0, -1))
      case 'set':
        return JSON.stringify(await redis.smembers(key))
      case 'zset':
        return JSON.stringify(await redis.zrange(key, '0', '-1'))
      case 'stream':
        return JSON.stringify(await redis.xrange(key, '-', '+'))
      default:
        return String(await redis.get(key))
    }
  }
  return Promise.all((await redis.keys('*')).map(async (key) => [key, await read(key)] as const))
}

test('secrets of every kind are used', async () => {
  await world.putSecret(
    'signing',
    {
      team: textOf('signing secret of the team'),
      queue: textOf('signing secret of a queue'),
      cron: textOf('signing secret of a cron'),
    },
    { type: 'punctual.dev/signing-secret' },
  )
  await world.putSecret(
    'headers',
    {
      cron: textOf('header of a cron'),
      team: textOf('header secret of the team'),
      unusable: `${textOf('unusable value')}\n`,
    },
    { type: 'punctual.dev/header-secret' },
  )
  target.route(`/hook/${textOf('hook')}`, ({ body }) => ({ status: 500, body }))
  await world.putSecret('hooks', { url: `${target.url}/hook/${textOf('hook')}` })
  // One that repeats what it got, as echoes and faults do.
  target.route('/echo', ({ headers, body }) => ({ status: 500, body: JSON.stringify({ headers, body }) }))
  const signing = (key: string) => ({ secretRefs: [{ name: 'signing', key }] })
  const { host } = new URL(target.url)
  await world.apply('TeamSettings', 'team', {
    signing: signing('team'),
    headerSecrets: ['team', 'unusable'].map((key) => ({
      name: key,
      hosts: [host],
      secretKeyRef: { name: 'headers', key },
    })),
    members: [{ name: 'Ada', email: 'ada@a.test' }],
    notifications: {
      channels: [
        { name: 'hook', type: 'Webhook', secretRef: { name: 'hooks', key: 'url' } },
        { name: 'mail', type: 'Email' },
      ],
    },
  })
  await world.apply('HttpQueue', 'own', { signing: signing('queue') })
  const header = (key: string) => ({
    headers: [{ name: 'X-Partner', valueFrom: { secretKeyRef: { name: 'headers', key } } }],
  })
  const cron = { url: `${target.url}/echo`, cronExpression: '0 0 1 1 *' }
  await world.apply('HttpCron', 'report', { ...cron, ...header('cron'), signing: signing('cron') })
  await world.apply('HttpCron', 'broken', { ...cron, ...header('unusable') })
  await world.reason('TeamSettings', 'team', 'SecretNotUsable', 'HeaderSecretsReady')
  await world.reason('HttpCron', 'broken', 'SecretNotUsable')
  await world.reason('HttpCron', 'report', 'Reconciled')
  await world.reason('HttpQueue', 'own', 'Reconciled')

  /** Answers false where the API does not know what the job names yet. */
  const push = async (fields: object): Promise<boolean> => {
    const { job_id: id } = await send<{ job_id?: number }>('POST', '/api/jobs', {
      queue: 'own',
      url: `${target.url}/echo`,
      retries_enabled: false,
      ...fields,
    })
    if (id === undefined) return false
    await client.ended(id)
    await send('GET', `/api/jobs/${id}`)
    return true
  }
  const sent = (header: string) => target.arrivals('/echo').map(({ headers }) => headers[header])
  await until('the API and the executor know them', async () => {
    const named = { header_secrets: { 'X-Team': 'team' }, headers: { Cookie: textOf('header of a push') } }
    if (!(await push(named))) return false
    return sent('x-team').includes(textOf('header secret of the team'))
  })
  expect(await push({ header_secrets: { 'X-Team': 'unusable' }, queue: 'others' })).toBe(true)
  expect(await push({ queue: 'others' })).toBe(true)
  const cronId = Number((await world.get('HttpCron', 'report')).status?.['id'])
  const run = await send<{ job_id: number }>('POST', `/api/crons/${cronId}/run`)
  await client.ended(run.job_id)
  expect(sent('x-partner')).toContain(textOf('header of a cron'))
  // No executor may send the test in time; then it is asked for again.
  await until(
    'the hook is told',
    async () => {
      await send('POST', '/api/notifications/test', {})
      return target.arrivals(`/hook/${textOf('hook')}`).length > 0
    },
    START_TIMEOUT_MS,
  )
  for (const path of [
    '/api/team',
    '/api/me',
    '/api/queues',
    '/api/jobs',
    '/api/alerts',
    '/api/tokens',
    '/api/audit',
    '/api/signing-secrets',
    '/api/crons',
    `/api/crons/${cronId}`,
    `/api/crons/${cronId}/manifest`,
    `/api/crons/${cronId}/runs`,
    `/api/jobs/${run.job_id}`,
    '/api/jobs/dead-letter-groups',
  ]) {
    await send('GET', path)
  }
})

test('sessions and logins too, and a certificate', async () => {
  const opened = await fetch(`${api.url}/api/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.token}`, origin: PUBLIC_URL, 'sec-fetch-site': 'same-origin' },
  })
  answers.push(await opened.text())
  const cookieOf = (answer: Response, name: string) =>
    answer.headers
      .getSetCookie()
      .map((one) => one.split(';')[0] ?? '')
      .find((one) => one.includes(name)) ?? ''
  const session = opened.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  expect([opened.status, session]).toEqual([expect.any(Number), expect.stringMatching(/=.{20,}/)])
  secrets.set('session', session.slice(session.indexOf('=') + 1))

  provider.claims = { groups: ['devs'] }
  const begun = await fetch(`${api.url}/api/login/oidc`, { redirect: 'manual' })
  const cookie = begun.headers.getSetCookie().map((one) => one.split(';')[0] ?? '')
  const back = provider.authorize(begun.headers.get('location') ?? '').replace(PUBLIC_URL, api.url)
  const login = await fetch(back, { redirect: 'manual', headers: { cookie: cookie.join('; ') } })
  answers.push(await login.text())
  const own = cookieOf(login, session.slice(0, session.indexOf('=')))
  expect(own).toMatch(/=.{20,}/)
  secrets.set('session of a login', own.slice(own.indexOf('=') + 1))

  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  writeFileSync(cert, CERTIFICATE.cert)
  writeFileSync(key, CERTIFICATE.key)
  const secure = await world.startApi({ PUNCTUAL_TLS_CERT: cert, PUNCTUAL_TLS_KEY: key })
  programs.push(secure.program)
  writeFileSync(key, `${CERTIFICATE.key.slice(0, -40)}\n`)
})

test('and nothing that others may read holds one', async () => {
  const logs = programs.flatMap(({ log, strayLines, errorLines }) => [
    ...log.map((line) => JSON.stringify(line)),
    ...strayLines,
    ...errorLines,
  ])
  const metrics = await Promise.all(opsUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()))
  const redis = await redisHolds(world.redis)
  const etcd = await until('Events have been written', async () => {
    const all = [...(await readEtcd())]
    const isEvent = ([key]: readonly [string, unknown]) =>
      key.startsWith(`/registry/events/${world.namespace}/`)
    return all.some(isEvent) ? all : null
  })
  const isSecret = ([key]: readonly [string, unknown]) => key.startsWith('/registry/secrets/')
  const ofNamespace = etcd.filter(([key]) => key.includes(`/${world.namespace}/`))
  // Each search finds what there is to find.
  expect(programs.every(({ log }) => log.length > 0)).toBe(true)
  expect(metrics.every((text) => text.includes('punctual_'))).toBe(true)
  expect(redis.map(([key]) => key)).toContain('punctual:secrets')
  for (const name of IN_SECRETS) {
    const found = ofNamespace.filter(([, value]) => holds(value, textOf(name))).map(([key]) => key)
    expect([name, found]).toEqual([name, [expect.stringMatching(/^\/registry\/secrets\//)]])
  }
  const places: ReadonlyArray<readonly [string, Buffer | string]> = [
    ...answers.map((text, at) => [`answer ${at}`, text] as const),
    ...logs.map((text) => [`log ${text}`, text] as const),
    ...metrics.map((text, at) => [`metrics of ${opsUrls[at]}`, text] as const),
    ...redis.map(([key, text]) => [`Redis ${key}`, text] as const),
    ...etcd.filter((one) => !isSecret(one)).map(([key, value]) => [`etcd ${key}`, value] as const),
  ]
  for (const [name, text] of secrets) {
    expect(text.length, name).toBeGreaterThanOrEqual(20)
    // What is pushed lies in the job until it has ended, and in its summary.
    const isPushed = name === 'header of a push'
    const found = places.filter(
      ([place, held]) => holds(held, text) && !(isPushed && place.startsWith('Redis ')),
    )
    expect([name, found.map(([place]) => place)]).toEqual([name, []])
  }
})
