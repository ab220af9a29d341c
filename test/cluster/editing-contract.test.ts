/** The same edits of resources in a cluster and in a folder: what one refuses, warns of or versions, the other does too. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeKeptFolder } from '../support/engine/kept-folder.ts'
import { runProgram, stopProgram, type Program } from '../support/servers/processes.ts'
import { startRedis, type TestRedis } from '../support/servers/redis-server.ts'
import { until } from '../support/until.ts'
import { openControllerWorld, SECRETS_KEY, type ControllerWorld } from './controller/controller-world.ts'

const TOKEN = 'the-token-of-the-folder-and-no-other'
const API_VERSION = 'punctual.dev/v1alpha1'

interface Answer {
  readonly status: number
  readonly tag: string | null
  readonly body: Record<string, unknown>
}

type Call = (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<Answer>

/** One place where resources lie, behind an API. */
interface Place {
  readonly call: Call
  /** What somebody applies by another way than the API; resolves when the queue or cron is in force. */
  apply(kind: string, name: string, spec: object, annotations?: Record<string, string>): Promise<void>
}

let world: ControllerWorld
let redis: TestRedis
let program: Program
const kept = makeKeptFolder()
const places: Record<string, Place> = {}

function callTo(url: string, token: string): Call {
  return async (method, path, body, headers = {}) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      tag: answer.headers.get('etag'),
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
    }
  }
}

async function openCluster(): Promise<Place> {
  world = await openControllerWorld()
  await world.start()
  const { url, token } = await world.startApi()
  const { namespace } = world
  return {
    call: callTo(url, token),
    apply: async (kind, name, spec, annotations = {}) => {
      const metadata = { name, namespace, annotations }
      await world.api.apply(JSON.stringify({ apiVersion: API_VERSION, kind, metadata, spec }))
      await world.reason(kind, name, 'Reconciled')
    },
  }
}

async function openFolder(): Promise<Place> {
  redis = await startRedis()
  mkdirSync(kept.resources, { recursive: true })
  program = runProgram(['api'], {
    ...kept.env(),
    PUNCTUAL_REDIS_URL: redis.url,
    PUNCTUAL_SECRETS_KEY: SECRETS_KEY,
    PUNCTUAL_TOKEN: TOKEN,
    PUNCTUAL_PORT: '0',
    PUNCTUAL_OPS_PORT: '0',
  })
  const { url } = await program.logged('The API listens')
  const call = callTo(String(url), TOKEN)
  return {
    call,
    apply: async (kind, name, spec, annotations = {}) => {
      const manifest = { apiVersion: API_VERSION, kind, metadata: { name, annotations }, spec }
      writeFileSync(join(kept.resources, `applied-${kind}-${name}.json`), JSON.stringify(manifest))
      if (kind !== 'HttpQueue') return
      await until(`${name} is in force`, async () => (await queueId(call, name)) !== undefined)
    },
  }
}

beforeAll(async () => {
  places['a cluster'] = await openCluster()
  places['a folder'] = await openFolder()
})

afterAll(async () => {
  await world.close()
  await stopProgram(program)
  await redis.stop()
  kept.remove()
})

async function queueId(call: Call, name: string): Promise<number | undefined> {
  const { queues } = (await call('GET', '/api/queues')).body as {
    queues: { queue_id: number; name: string }[]
  }
  return queues.find((queue) => queue.name === name)?.queue_id
}

async function pushedQueue(call: Call, name: string): Promise<string> {
  await call('POST', '/api/jobs', { queue: name, url: 'https://target.test/', delay: 3600 })
  return `/api/queues/${await queueId(call, name)}`
}

/** What both places must answer alike: without ids, times, and who manages it. */
function seen({ status, body }: Answer): unknown {
  const shown = JSON.stringify(body, (key, value: unknown) =>
    /(?:^|_)id$|_at$|^secret|^token$|^prefix$|^version$/.test(key) ? undefined : value,
  )
  return [status, JSON.parse(shown) as unknown]
}

type Scene = (place: Place) => Promise<Answer[]>

const CRON = { name: 'Nightly', url: 'https://target.test/', cron_expression: '0 3 * * *' }
const WINDOW = { name: 'move', start_at: '2031-01-01T00:00:00Z', end_at: '2031-01-01T01:00:00Z' }

const SCENES: ReadonlyArray<readonly [what: string, statuses: readonly number[], scene: Scene]> = [
  [
    'a pushed queue is edited, versioned and deleted',
    [200, 200, 409, 422, 409, 200, 204, 404],
    async ({ call }) => {
      const path = await pushedQueue(call, 'Mails out')
      const before = await call('GET', path)
      const old = { 'if-match': before.tag ?? '' }
      return [
        before,
        await call('PATCH', path, { max_parallelism: 3 }, old),
        await call('PATCH', path, { max_parallelism: 4 }, old),
        await call('PATCH', path, { timeout_seconds: 0 }),
        await call('PATCH', path, { timeout_seconds: 9 }, { 'if-match': '"none"' }),
        await call('POST', `${path}/pause`),
        await call('DELETE', path),
        await call('PATCH', path, { max_parallelism: 4 }),
      ]
    },
  ],
  [
    'a queue is created with settings of its own, once, edited and deleted',
    [201, 409, 409, 422, 200, 204, 404],
    async ({ call, apply }) => {
      await apply('HttpQueue', 'applied', {})
      const fast = { rate_limit: { limit: 10, period_seconds: 1 } }
      const made = await call('POST', '/api/queues', { name: 'Partner: out', ...fast })
      const path = `/api/queues/${String(made.body['queue_id'])}`
      return [
        made,
        await call('POST', '/api/queues', { name: 'Partner: out' }),
        await call('POST', '/api/queues', { name: 'applied', ...fast }),
        await call('POST', '/api/queues', { ...fast, timeout_seconds: 0 }),
        await call('PATCH', path, { max_parallelism: 2 }, { 'if-match': made.tag ?? '' }),
        await call('DELETE', path),
        await call('GET', path),
      ]
    },
  ],
  [
    'of two edits of the same version, one is refused',
    [200, 409],
    async ({ call }) => {
      const path = await pushedQueue(call, 'Raced')
      const old = { 'if-match': (await call('GET', path)).tag ?? '' }
      const ends = await Promise.all(
        ['timeout_seconds', 'max_parallelism'].map((field) => call('PATCH', path, { [field]: 7 }, old)),
      )
      const ranked = ends.toSorted((left, right) => left.status - right.status)
      // Which of them comes first is chance.
      return ranked.map(({ status }) => ({ status, tag: null, body: {} }))
    },
  ],
  [
    'a cron is made once under a key, edited, versioned and deleted',
    [201, 201, 422, 200, 409, 422, 204, 404],
    async ({ call }) => {
      const key = { 'idempotency-key': 'nightly-of-the-shop' }
      const made = await call('POST', '/api/crons', CRON, key)
      const path = `/api/crons/${String(made.body['id'])}`
      const old = { 'if-match': (await call('GET', path)).tag ?? '' }
      return [
        made,
        await call('POST', '/api/crons', CRON, key),
        await call('POST', '/api/crons', { ...CRON, name: 'Other' }, key),
        await call('PATCH', path, { timeout_seconds: 9 }, old),
        await call('PATCH', path, { timeout_seconds: 8 }, old),
        await call('PATCH', path, { cron_expression: '0 0 31 2 *' }),
        await call('DELETE', path),
        await call('DELETE', path),
      ]
    },
  ],
  [
    'a window is made under a free name, also that of a queue, edited and deleted',
    [201, 409, 201, 200, 409, 200, 204, 404],
    async ({ call, apply }) => {
      await apply('HttpQueue', 'named-alike', {})
      const made = await call('POST', '/api/maintenance-windows', WINDOW)
      const path = `/api/maintenance-windows/${WINDOW.name}`
      const old = { 'if-match': (await call('GET', path)).tag ?? '' }
      return [
        made,
        await call('POST', '/api/maintenance-windows', WINDOW),
        await call('POST', '/api/maintenance-windows', { ...WINDOW, name: 'named-alike' }),
        await call('PATCH', path, { reason: 'It moves.' }, old),
        await call('PATCH', path, { reason: 'It stays.' }, old),
        await call('PATCH', path, { reason: null }),
        await call('DELETE', path),
        await call('DELETE', path),
      ]
    },
  ],
  [
    'a token is made under a free name, and removed',
    [201, 409, 201, 204, 404],
    async ({ call }) => [
      await call('POST', '/api/tokens', { name: 'ci', scopes: ['push'] }),
      await call('POST', '/api/tokens', { name: 'ci' }),
      await call('POST', '/api/tokens', { name: 'named-alike' }),
      await call('DELETE', '/api/tokens/ci'),
      await call('DELETE', '/api/tokens/ci'),
    ],
  ],
  [
    'a third signing secret is refused, and one that is removed makes room',
    [201, 201, 409, 204, 404, 201],
    async ({ call }) => {
      const path = '/api/signing-secrets'
      const first = await call('POST', path)
      const older = `${path}/${String(first.body['id'])}`
      const more = [first, await call('POST', path)]
      const third = await call('POST', path)
      // It names the older one.
      const refused = {
        ...third,
        body: { names: JSON.stringify(third.body).includes(String(first.body['id'])) },
      }
      return [
        ...more,
        refused,
        await call('DELETE', older),
        await call('DELETE', older),
        await call('POST', path),
      ]
    },
  ],
  [
    'what somebody has applied is warned of, or read-only where the team wants that',
    [200, 200, 409, 409, 200],
    async (place) => {
      const { call, apply } = place
      await apply('HttpQueue', 'from-helm', {}, { 'meta.helm.sh/release-name': 'shop' })
      const path = `/api/queues/${await queueId(call, 'from-helm')}`
      const shown = await call('GET', path)
      const warned = await call('PATCH', path, { max_parallelism: 3 })
      const settings = await call('GET', '/api/signing-secrets')
      await setReadOnly(place)
      await until(
        `it is read-only in ${place === places['a folder'] ? 'the folder' : 'the cluster'}`,
        async () => JSON.stringify((await call('GET', path)).body).includes('"read_only":true'),
      )
      return [
        shown,
        warned,
        await call('PATCH', path, { max_parallelism: 4 }),
        await call('DELETE', path),
        settings,
      ]
    },
  ],
]

/** The one TeamSettings of the team is there already, made for its signing secrets. */
async function setReadOnly(place: Place): Promise<void> {
  if (place === places['a cluster']) {
    const name = { apiVersion: API_VERSION, kind: 'TeamSettings', name: 'team', namespace: world.namespace }
    const patch = { spec: { appliedResources: 'ReadOnly' } }
    await world.api.send('PATCH', await world.api.pathOf(name), patch, 'application/merge-patch+json')
    return
  }
  appendFileSync(join(kept.resources, 'team-settings.yaml'), '  appliedResources: ReadOnly\n')
}

test.for(SCENES)('%s', async ([, statuses, scene]) => {
  const ends: Record<string, unknown[]> = {}
  for (const [where, place] of Object.entries(places)) {
    const answers = await scene(place)
    expect([where, answers.map(({ status }) => status)]).toEqual([where, statuses])
    ends[where] = answers.map(seen)
  }
  expect(ends['a folder']).toEqual(ends['a cluster'])
})
