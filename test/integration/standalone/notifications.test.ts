import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Redis } from 'ioredis'
import type { AlertList } from '../../../clients/typescript/src/generated/wire.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { createStandaloneWorld, type StandaloneWorld } from '../../support/servers/standalone-world.ts'
import { startSlack, type ChatTarget } from '../../support/targets/chat-targets.ts'
import { startMailTarget, type MailTarget } from '../../support/targets/mail-target.ts'
import { until } from '../../support/until.ts'

/** In every URL and password: nothing that anyone may read holds it. */
const CANARY = 'SECRET'
const LOGIN = { user: 'ada', password: `smtp${CANARY}` }

let world: StandaloneWorld
let redis: TestRedis
let slack: ChatTarget
let mail: MailTarget

beforeAll(async () => {
  world = createStandaloneWorld()
  redis = await startRedis({ settings: ['--appendonly', 'yes'] })
  slack = await startSlack()
  mail = await startMailTarget({ certificate: null, login: LOGIN })
})
afterAll(async () => {
  await world.close()
  await slack.close()
  await mail.close()
  await redis.stop()
})

const manifests = (hook: string): string => `
apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec:
  egress: { allow: [127.0.0.0/8, localhost, 10.9.0.0/16] }
  members: [{ name: Ada, email: ada@a.test }, { name: Bob, email: bob@a.test }]
  notifications:
    channels:
      - { name: mail, type: Email }
      - { name: ops, type: Slack, secretRef: { name: urls, key: slack } }
      - { name: wrong, type: Discord, secretRef: { name: urls, key: wrong } }
      - { name: gone, type: Slack, secretRef: { name: urls, key: gone } }
      - { name: hook, type: Webhook, secretRef: { name: urls, key: hook } }
      - { name: inner, type: Webhook, secretRef: { name: urls, key: inner } }
---
apiVersion: v1
kind: Secret
metadata: { name: urls }
stringData:
  slack: ${slack.url}
  wrong: https://discord.example.com/${CANARY}
  gone: ${slack.url}gone
  hook: ${hook}/${CANARY}
  inner: http://10.1.2.3/${CANARY}
`

/** All that Redis holds, as text. */
async function contentsOf(client: Redis): Promise<string> {
  const read: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    string: (key) => client.get(key),
    hash: (key) => client.hgetall(key),
    list: (key) => client.lrange(key, 0, -1),
    zset: (key) => client.zrange(key, '0', '-1'),
    set: (key) => client.smembers(key),
    stream: (key) => client.xrange(key, '-', '+'),
  }
  const keys = await client.keys('*')
  const values = await Promise.all(keys.map(async (key) => [key, await read[await client.type(key)]?.(key)]))
  return JSON.stringify(values)
}

test('a failure reaches every channel, and no URL or password reaches anyone else', async () => {
  const [folder, target] = [world.newFolder(), await world.newTarget()]
  mkdirSync(join(folder, 'resources'))
  writeFileSync(join(folder, 'resources', 'team.yaml'), manifests(target.url))
  const { program, client } = await world.start(folder, {
    PUNCTUAL_REDIS_URL: redis.url,
    PUNCTUAL_LOG_LEVEL: 'debug',
    PUNCTUAL_SMTP_URL: `smtp://${LOGIN.user}:${LOGIN.password}@localhost:${mail.port}`,
    PUNCTUAL_SMTP_FROM: 'Punctual <punctual@a.test>',
  })
  const problems = program.log.filter(({ msg }) => msg === 'A manifest has a problem')
  expect(problems.map(({ problem }) => problem)).toEqual([
    expect.stringContaining('spec.notifications.channels[2].secretRef: The URL must be one of Discord'),
    expect.stringContaining('spec.notifications.channels[5].secretRef: The egress policy blocks the host'),
  ])

  // Hosts of channels are named for another reason than to be opened.
  const ineffective = program.log.filter(({ msg }) => msg.startsWith('Entries of spec.egress.allow open'))
  expect(ineffective).toMatchObject([
    { team: 'default', entries: expect.arrayContaining(['10.9.0.0/16']) as unknown },
  ])
  expect(JSON.stringify(ineffective)).not.toContain('127.0.0.0/8')

  const tested = await client.send('POST', '/api/notifications/test', {})
  expect(tested).toMatchObject({
    status: 200,
    body: {
      results: [
        { channel: 'mail', ok: true },
        { channel: 'ops', ok: true },
        { channel: 'gone', ok: false, answer: expect.stringContaining('no_service') },
        { channel: 'hook', ok: true },
      ],
    },
  })
  expect(slack.messages()).toHaveLength(1)
  expect(
    mail
      .mails()
      .map(({ to }) => to.join())
      .toSorted(),
  ).toEqual(['ada@a.test', 'bob@a.test'])

  await client.makeQueue('reports', { alerts_enabled: true, retries_enabled: false })
  target.route('/fails', () => ({ status: 500 }))
  await client.push({ queue: 'reports', url: `${target.url}/fails` })
  await slack.accepted(2)
  await mail.received(4)
  expect(JSON.stringify(slack.messages()[1])).toContain('reports')
  await until('the webhook has it', () => target.arrivals(`/${CANARY}`).length === 2)

  const sentTo = async () => {
    const { body } = await client.send<AlertList>('GET', '/api/alerts?type=failure')
    const deliveries = body.alerts.flatMap((alert) => alert.deliveries)
    return deliveries.filter(({ state }) => state === 'sent').map(({ channel }) => channel)
  }
  await until('its alert says so', async () => (await sentTo()).toSorted().join() === 'hook,mail,ops')

  const isFailing = async () =>
    JSON.stringify((await client.send('GET', '/api/team')).body).includes('"state":"failing"')
  await until('the dead channel is failing', isFailing)
  const { opsUrl } = await program.logged('Standalone runs')
  const metrics = await (await fetch(`${String(opsUrl)}/metrics`)).text()
  expect(metrics).toContain('punctual_notifications_total')
  const answers = await Promise.all(
    ['/api/team', '/api/alerts', '/api/queues', '/api/jobs'].map((path) => client.send('GET', path)),
  )
  program.signal('SIGTERM')
  await program.exited
  const held = await contentsOf(redis.client)
  expect(held).toContain('channels')
  const seen = [tested, answers.map(({ body }) => body), metrics, held, program.log, program.errorLines]
  for (const one of seen) expect(JSON.stringify(one)).not.toContain(CANARY)
})
