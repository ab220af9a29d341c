import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { stopProgram } from '../../support/servers/processes.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { until } from '../../support/until.ts'

const { newFolder, newTarget, start, close } = createStandaloneWorld()
afterAll(close)

/** A path of a webhook that nobody but the team may know. */
const CANARY = 'canary-7c1e'
/** Executors scan for limits once a minute, from its second 15 on. */
const LOOK_MS = 90_000
const SIGNING_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

function resources(targetUrl: string): string {
  const anHour = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  return `
apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec:
  signing: { secretRefs: [{ name: team, key: signing }] }
  notifications:
    channels:
      - { name: ops, type: Webhook, secretRef: { name: team, key: ops } }
      - { name: dead, type: Webhook, secretRef: { name: team, key: dead } }
---
apiVersion: v1
kind: Secret
metadata: { name: team, labels: { punctual.dev/secret: signing } }
stringData:
  signing: ${SIGNING_SECRET}
  ops: ${targetUrl}/ops/${CANARY}
  dead: ${targetUrl}/dead/${CANARY}
---
apiVersion: punctual.dev/v1alpha1
kind: HttpQueue
metadata: { name: watched }
spec: { alertsEnabled: true, retriesEnabled: false }
---
apiVersion: punctual.dev/v1alpha1
kind: HttpQueue
metadata: { name: quiet }
spec: { alertsEnabled: true, retriesEnabled: false }
---
apiVersion: punctual.dev/v1alpha1
kind: MaintenanceWindow
metadata: { name: moving }
spec:
  resource: { kind: HttpQueue, name: quiet }
  start: ${anHour(-1)}
  end: ${anHour(1)}
`
}

interface Alert {
  readonly type: string
  readonly resource: { readonly name: string }
  readonly suppressed_by: string | null
  readonly deliveries: ReadonlyArray<{ readonly channel: string; readonly state: string }>
}

async function alertOf(client: ApiClient, queue: string): Promise<Alert | undefined> {
  const { body } = await client.send<{ alerts: Alert[] }>('GET', '/api/alerts?type=failure')
  return body.alerts.find(({ resource }) => resource.name === queue)
}

describe.concurrent('a team is told of its alerts', () => {
  test('by its channels, but not under a window, and no secret shows anywhere', async () => {
    const [folder, target] = [newFolder(), await newTarget()]
    target.route('/fails', () => ({ status: 500 }))
    // As many servers do with a path that they do not know.
    target.route('/dead', ({ path }) => ({ status: 503, body: `Cannot POST ${path}` }))
    mkdirSync(join(folder, 'resources'))
    writeFileSync(join(folder, 'resources', 'team.yaml'), resources(target.url))
    const { program, client } = await start(folder)
    const tested = await client.send('POST', '/api/notifications/test', {})
    expect(tested.body).toMatchObject({
      results: [
        { channel: 'ops', ok: true },
        { channel: 'dead', ok: false, answer: expect.stringContaining('503') as string },
      ],
    })

    await client.push({ queue: 'quiet', url: `${target.url}/fails` })
    await client.push({ queue: 'watched', url: `${target.url}/fails` })
    await until('the alert can be read', () => alertOf(client, 'watched'))
    const [, message] = await target.arrived(`/ops/${CANARY}`, 2)
    expect(JSON.parse(message?.body ?? '')).toMatchObject({ event: 'alert', resource: { name: 'watched' } })
    expect(message?.headers['webhook-signature']).toMatch(/^v1,/)
    const delivered = await until('the delivery is noted', async () => {
      const alert = await alertOf(client, 'watched')
      return alert?.deliveries.some(({ state }) => state === 'sent') ? alert : null
    })
    expect(delivered.deliveries).toContainEqual(expect.objectContaining({ channel: 'ops', state: 'sent' }))
    const muted = await until('the muted alert can be read', () => alertOf(client, 'quiet'))
    expect(muted.suppressed_by).toBe('moving')
    for (const { body } of target.arrivals(`/ops/${CANARY}`)) expect(body).not.toContain('quiet')
    await until('the other channel has failed', async () => {
      const { body } = await client.send<{ notifications: Array<{ state: string }> }>('GET', '/api/team')
      return body.notifications.some(({ state }) => state !== 'ok')
    })

    const { opsUrl } = await program.logged('Standalone runs')
    const shown = await Promise.all([
      ...['/api/team', '/api/alerts', '/api/queues'].map(async (path) =>
        JSON.stringify((await client.send('GET', path)).body),
      ),
      fetch(`${String(opsUrl)}/metrics`).then((response) => response.text()),
      everythingIn(join(folder, 'redis', 'redis.sock')),
    ])
    expect(await stopProgram(program)).toEqual([])
    shown.push(JSON.stringify(tested.body), JSON.stringify(program.log), program.errorLines.join())
    const files = join(folder, 'redis', 'appendonlydir')
    shown.push(...readdirSync(files).map((name) => readFileSync(join(files, name), 'latin1')))
    expect(shown.join()).toContain('watched')
    for (const text of shown) {
      expect(text).not.toContain(CANARY)
      expect(text).not.toContain(SIGNING_SECRET.slice('whsec_'.length))
    }
  })

  test('also of a quota that is used up', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'resources'))
    writeFileSync(join(folder, 'resources', 'team.yaml'), resources('https://a.test'))
    const { program, client } = await start(folder, { PUNCTUAL_QUOTA_QUEUES: '2' })
    const warned = async () => {
      const { body } = await client.send<{ alerts: unknown[] }>('GET', '/api/alerts?type=limit_warning')
      return body.alerts[0]
    }
    expect(await until('the next look', warned, LOOK_MS)).toMatchObject({
      reason: 'quota_nearly_used',
      resource: { kind: 'team', id: null, name: 'default' },
    })
    expect(await stopProgram(program)).toEqual([])
  })
})

/** Every value in a Redis as text: a dump may be compressed. */
async function everythingIn(path: string): Promise<string> {
  const client = new Redis({ path })
  try {
    const values = (await client.keys('*')).map(async (key): Promise<unknown> => {
      switch (await client.type(key)) {
        case 'hash':
          return client.hgetall(key)
        case 'list':
          return client.lrange(key, 0, -1)
        case 'zset':
          return client.zrange(key, '0', '-1')
        case 'set':
          return client.smembers(key)
        case 'stream':
          return client.xrange(key, '-', '+')
        default:
          return client.get(key)
      }
    })
    return JSON.stringify(await Promise.all(values))
  } finally {
    client.disconnect()
  }
}
