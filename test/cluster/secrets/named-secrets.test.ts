import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiClient, type ApiClient } from '../../support/servers/api-client.ts'
import { runProgram, stopProgram, type Program } from '../../support/servers/processes.ts'
import { startTarget, type Arrival, type Target } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'
import type { AnyObject } from '../../support/cluster/kubernetes-api.ts'
import { openControllerWorld, SECRETS_KEY, type ControllerWorld } from '../controller/controller-world.ts'

/** A poll of Secrets, a reconcile and a call, on a busy machine. */
const POLLED_TIMEOUT_MS = 75_000
const START_TIMEOUT_MS = 60_000
const OPEN = { PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8' }
const HEADER_LABEL = { 'punctual.dev/secret': 'header' }

let world: ControllerWorld
let client: ApiClient
let target: Target
let executor: Program

beforeAll(async () => {
  ;[world, target] = await Promise.all([openControllerWorld(), startTarget()])
  executor = runProgram(['executor'], {
    ...OPEN,
    PUNCTUAL_REDIS_URL: world.redis.url,
    PUNCTUAL_SECRETS_KEY: SECRETS_KEY,
    PUNCTUAL_OPS_PORT: '0',
  })
  await world.start(OPEN)
  const api = await world.startApi(OPEN)
  client = createApiClient(api.url, api.token)
  await executor.logged('The executor holds its leases', { timeoutMs: START_TIMEOUT_MS })
}, 3 * START_TIMEOUT_MS)

afterAll(async () => {
  await stopProgram(executor)
  await target.close()
  await world.close()
})

const removeSecret = (name: string) =>
  world.api.delete({ apiVersion: 'v1', kind: 'Secret', name, namespace: world.namespace })

/** Of all calls to a path, the newest. */
const last = (path: string): Arrival | undefined => target.arrivals(path).at(-1)

function signature({ headers, body }: Arrival, secret: string): string {
  const timestamp = String(headers['x-punctual-timestamp'])
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
}

const cronSpec = (path: string, fields: object) => ({
  url: `${target.url}${path}`,
  cronExpression: '0 0 1 1 *',
  ...fields,
})

/** Why it is not ready. */
const says = (kind: string, name: string, text: string) =>
  until(`${kind} ${name} says that it ${text}`, async () =>
    (await world.condition(kind, name, 'Ready'))?.message.includes(text),
  )

async function runCron(name: string): Promise<void> {
  const id = Number((await world.get('HttpCron', name)).status?.['id'])
  const { body } = await client.send<{ job_id: number }>('POST', `/api/crons/${id}/run`)
  await client.ended(body.job_id)
}

test('a cron waits for the Secret of a header, its key, its mark and its value', async () => {
  const headers = [{ name: 'Authorization', valueFrom: { secretKeyRef: { name: 'partner', key: 'token' } } }]
  // Each change of the spec has the Secret read at once.
  const apply = (timeoutSeconds: number) =>
    world.apply('HttpCron', 'report', cronSpec('/report', { headers, timeoutSeconds }))
  await apply(1)
  expect((await world.reason('HttpCron', 'report', 'SecretNotFound')).message).toContain(
    `There is no Secret partner in ${world.namespace}.`,
  )
  await world.putSecret('partner', { other: 'Bearer first' })
  await apply(2)
  expect((await world.reason('HttpCron', 'report', 'SecretNotUsable')).message).toContain(
    'give it type punctual.dev/header-secret, or the label punctual.dev/secret=header.',
  )
  await world.putSecret(
    'partner',
    { other: 'Bearer first' },
    { labels: { 'punctual.dev/secret': 'signing' } },
  )
  const { metadata } = await apply(3)
  const seen = await until('the other mark is looked at', async () => {
    const ready = await world.condition('HttpCron', 'report', 'Ready')
    return ready?.observedGeneration === metadata['generation'] ? ready : null
  })
  expect(seen.reason).toBe('SecretNotUsable')
  await world.putSecret('partner', { other: 'Bearer first' }, { labels: HEADER_LABEL })
  await apply(4)
  await world.reason('HttpCron', 'report', 'SecretKeyNotFound')
  await world.putSecret('partner', { token: 'Bearer first\n' }, { labels: HEADER_LABEL })
  await apply(5)
  await says('HttpCron', 'report', 'ends with a line break')
  const { host } = new URL(target.url)
  const allow = (annotations: Readonly<Record<string, string>>) =>
    world.putSecret('partner', { token: 'Bearer first' }, { labels: HEADER_LABEL, annotations })
  // A Secret of before the annotation has none, and applying one leaves out what it does not name.
  await removeSecret('partner')
  await allow({})
  await apply(6)
  await says(
    'HttpCron',
    'report',
    `kubectl annotate secret partner --namespace ${world.namespace} --overwrite 'punctual.dev/hosts=${host}'`,
  )
  await allow({ 'punctual.dev/hosts': 'partner.example' })
  await apply(7)
  await says(
    'HttpCron',
    'report',
    `may not go to ${host}: its annotation punctual.dev/hosts says partner.example.`,
  )
  await allow({ 'punctual.dev/hosts': `partner.example, ${host}` })
  await apply(8)
  await world.reason('HttpCron', 'report', 'Reconciled')
  await until('the target gets it', async () => {
    await runCron('report')
    return last('/report')?.headers['authorization'] === 'Bearer first'
  })
})

test('signing secrets of a queue and a cron are of their type, in place of the team’s', async () => {
  const [ofTeam, ofQueue, ofCron] = ['team', 'queue', 'cron'].map(
    (who) => `the-signing-secret-of-the-${who}`,
  ) as [string, string, string]
  const type = 'punctual.dev/signing-secret'
  const refs = (key: string) => ({ signing: { secretRefs: [{ name: 'signing', key }] } })
  await world.putSecret(
    'signing',
    { team: ofTeam, queue: ofQueue, cron: ofCron, short: 'too-short' },
    { type },
  )
  await world.putSecret('unmarked', { queue: ofQueue })
  await world.apply('TeamSettings', 'team', refs('team'))
  await world.apply('HttpQueue', 'signed', { signing: { secretRefs: [{ name: 'unmarked', key: 'queue' }] } })
  await world.reason('HttpQueue', 'signed', 'SecretNotUsable')
  await world.apply('HttpQueue', 'signed', refs('short'))
  await says('HttpQueue', 'signed', 'must have at least 24 bytes, not 9.')
  await world.apply('HttpQueue', 'signed', refs('queue'))
  await world.apply('HttpCron', 'signed', cronSpec('/cron', refs('cron')))
  for (const [kind, name] of [
    ['TeamSettings', 'team'],
    ['HttpQueue', 'signed'],
    ['HttpCron', 'signed'],
  ] as const) {
    await world.reason(kind, name, 'Reconciled')
  }
  const signedWith = (path: string, secret: string, call: () => Promise<unknown>) =>
    until(`${path} is signed`, async () => {
      await call()
      const arrival = last(path)
      return arrival !== undefined && arrival.headers['x-punctual-signature'] === signature(arrival, secret)
    })
  const push = (queue: string) => async () => {
    // An executor that has not read the secrets yet fails the attempt, and a retry would come a minute later.
    const job = { queue, url: `${target.url}/${queue}`, retries_enabled: false }
    await client.ended((await client.push(job)).job_id)
  }
  await signedWith('/signed', ofQueue, push('signed'))
  await signedWith('/others', ofTeam, push('others'))
  await signedWith('/cron', ofCron, () => runCron('signed'))
  const inUse = ['/signed', '/others', '/cron'].map((path) => last(path)?.headers['x-punctual-signature'])
  expect(new Set(inUse).size).toBe(3)
})

test('what others apply as a manifest of the API is the same', async () => {
  const id = Number((await world.get('HttpCron', 'report')).status?.['id'])
  const { body } = await client.send<{ manifest: string }>('GET', `/api/crons/${id}/manifest`)
  expect(body.manifest).toContain('secretKeyRef:')
  const before = await world.get('HttpCron', 'report')
  await world.api.apply(body.manifest)
  // The API names what the resource leaves to its default.
  expect((await world.get('HttpCron', 'report')).spec).toEqual({ displayName: 'report', ...before.spec })
  const queue = await client.queueNamed('signed')
  const { body: ofQueue } = await client.send<{ manifest: string }>(
    'GET',
    `/api/queues/${queue?.queue_id}/manifest`,
  )
  const signed = await world.get('HttpQueue', 'signed')
  await world.api.apply(ofQueue.manifest)
  expect((await world.get('HttpQueue', 'signed')).spec).toEqual({ queueName: 'signed', ...signed.spec })
})

test('a cron that the API makes has its secret headers in a Secret that goes with it', async () => {
  const secretsOf = async (name: string) => {
    const path = `/api/v1/namespaces/${world.namespace}/secrets`
    const { items } = (await world.api.send('GET', path)) as unknown as { items: readonly AnyObject[] }
    return items.filter(({ metadata }) => metadata.name.startsWith(`${name}-headers-`))
  }
  const made = await client.send<{ id: number }>('POST', '/api/crons', {
    name: 'Made',
    url: `${target.url}/made`,
    cron_expression: '0 0 1 1 *',
    headers: { Authorization: 'Bearer made-1', Accept: 'text/plain' },
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const { items } = (await world.api.send(
    'GET',
    `/apis/punctual.dev/v1alpha1/namespaces/${world.namespace}/httpcrons`,
  )) as unknown as { items: readonly AnyObject[] }
  const cron = items.find(({ metadata }) => metadata.name.startsWith('made-')) ?? expect.fail('it is there')
  const { name } = cron.metadata
  expect(JSON.stringify(cron)).not.toMatch(/Bearer|unfinished/)
  const [secret, ...others] = await secretsOf(name)
  expect(others).toEqual([])
  expect(secret).toMatchObject({
    type: 'punctual.dev/header-secret',
    metadata: {
      annotations: { 'punctual.dev/hosts': new URL(target.url).host },
      ownerReferences: [{ kind: 'HttpCron', name, uid: cron.metadata['uid'] }],
    },
  })
  const arrives = (value: string) =>
    until(`${value} arrives`, async () => {
      await runCron(name)
      return last('/made')?.headers['authorization'] === value
    })
  await arrives('Bearer made-1')
  const path = `/api/crons/${made.body.id}`
  const edited = await client.send('PATCH', path, { headers: { Authorization: 'Bearer made-2' } })
  expect(edited).toMatchObject({ status: 200, body: { headers: { Authorization: '(hidden)' } } })
  await arrives('Bearer made-2')
  expect(await secretsOf(name)).toHaveLength(1)
  expect((await client.send('DELETE', path)).status).toBe(204)
  await until('its Secret is gone', async () => (await secretsOf(name)).length === 0, POLLED_TIMEOUT_MS)
})

test(
  'a Secret that changes is read by itself, and one that is deleted is told',
  async () => {
    const { host } = new URL(target.url)
    const PUSHED = { type: 'punctual.dev/header-secret', annotations: { 'punctual.dev/hosts': host } }
    await world.putSecret('pushed', { token: 'Bearer pushed-1' }, PUSHED)
    await world.apply('TeamSettings', 'team', {
      headerSecrets: [{ name: 'pushed', secretKeyRef: { name: 'pushed', key: 'token' }, hosts: [host] }],
    })
    await world.reason('TeamSettings', 'team', 'Reconciled', 'HeaderSecretsReady')
    const push = { queue: 'q', url: `${target.url}/pushed`, retries_enabled: false }
    const sent = async () => {
      const named = { ...push, header_secrets: { Authorization: 'pushed' } }
      const { status, body } = await client.send<{ job_id: number }>('POST', '/api/jobs', named)
      return status === 201 ? client.ended(body.job_id) : null
    }
    const arrives = (path: string, value: string, call: () => Promise<unknown>) =>
      until(
        `${value} arrives`,
        async () => {
          await call()
          return last(path)?.headers['authorization'] === value
        },
        POLLED_TIMEOUT_MS,
      )
    await arrives('/pushed', 'Bearer pushed-1', sent)

    await world.putSecret('pushed', { token: 'Bearer pushed-2' }, PUSHED)
    await world.putSecret('partner', { token: 'Bearer second' }, { labels: HEADER_LABEL })
    await arrives('/pushed', 'Bearer pushed-2', sent)
    await arrives('/report', 'Bearer second', () => runCron('report'))

    // Its owner takes back where it may go: pushes are refused, and so is what waits or is replayed.
    await world.putSecret(
      'pushed',
      { token: 'Bearer pushed-2' },
      { ...PUSHED, annotations: { 'punctual.dev/hosts': 'partner.example' } },
    )
    await until('a push is refused', async () => (await sent()) === null, POLLED_TIMEOUT_MS)
    const refused = await client.send('POST', '/api/jobs', {
      ...push,
      header_secrets: { Authorization: 'pushed' },
    })
    expect(refused).toMatchObject({
      status: 422,
      body: {
        errors: { 'header_secrets.Authorization': [expect.stringContaining('may not go to the host')] },
      },
    })

    await removeSecret('pushed')
    await removeSecret('partner')
    await removeSecret('signing')
    const gone = 'SecretNotFound'
    await world.reason('TeamSettings', 'team', gone, 'HeaderSecretsReady', POLLED_TIMEOUT_MS)
    for (const [kind, name] of [
      ['HttpCron', 'report'],
      ['HttpCron', 'signed'],
      ['HttpQueue', 'signed'],
    ] as const) {
      await world.reason(kind, name, gone, 'Ready', POLLED_TIMEOUT_MS)
    }
    const failed = await until('nothing is sent', async () => {
      const job = await sent()
      return job?.failure_reason === 'unknown' ? job : null
    })
    expect(failed.error_message).toContain('the Secret of header secret pushed cannot be used')
    // What was applied stays: a Secret that is replaced is away for a moment.
    await runCron('report')
    expect(last('/report')?.headers['authorization']).toBe('Bearer second')
  },
  4 * POLLED_TIMEOUT_MS,
)
