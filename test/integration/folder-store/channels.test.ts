import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { NotificationChannelList, Status } from '../../../clients/typescript/src/generated/wire.ts'
import { createStandaloneWorld, type StandaloneWorld } from '../../support/servers/standalone-world.ts'
import { type ChatTarget, startSlack } from '../../support/targets/chat-targets.ts'

const PATH = '/api/notification-channels'
const SETTINGS = `
apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata: { name: team }
spec:
  egress: { allow: [127.0.0.0/8, localhost] }
`

let world: StandaloneWorld
let slack: ChatTarget

beforeAll(async () => {
  world = createStandaloneWorld()
  slack = await startSlack()
})
afterAll(async () => {
  await world.close()
  await slack.close()
})

test('a channel is made, tested and deleted by the API; one that fails its test leaves nothing', async () => {
  const folder = world.newFolder()
  mkdirSync(join(folder, 'resources'))
  writeFileSync(join(folder, 'resources', 'team.yaml'), SETTINGS)
  const { client } = await world.start(folder)
  const names = async () =>
    (await client.send<NotificationChannelList>('GET', PATH)).body.channels.map(({ name }) => name)

  const made = await client.send('POST', PATH, { name: 'ops', type: 'slack', url: slack.url })
  expect(made).toMatchObject({ status: 201, body: { name: 'ops', secret_ref: { key: 'url' } } })
  expect(JSON.stringify(made.body)).not.toContain(slack.url)
  expect(slack.messages()).toHaveLength(1)

  const failed = await client.send('POST', PATH, { name: 'gone', type: 'slack', url: `${slack.url}gone` })
  expect(failed).toMatchObject({ status: 409, body: { error: expect.stringContaining('no_service') } })
  expect(await names()).toEqual(['ops'])

  const edited = await client.send('PATCH', `${PATH}/ops`, { alert_types: ['warning'] })
  expect(edited).toMatchObject({ status: 200, body: { alert_types: ['warning'] } })
  expect((await client.send('DELETE', `${PATH}/ops`)).status).toBe(204)
  expect(await names()).toEqual([])

  const { body } = await client.send<Status>('GET', '/api/status')
  expect(body).toMatchObject({ executors_alive: true, installation: { executors: { alive: 1 } } })
  expect(body.installation?.executors?.slots).toBeGreaterThan(0)
  expect(body.unknown.map(({ part }) => part)).toEqual(['installation.leader_epoch'])
})
