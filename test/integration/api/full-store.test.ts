import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CreatedCron, CronList } from '../../../clients/typescript/src/generated/wire.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { stopProgram } from '../../support/servers/processes.ts'
import { until } from '../../support/until.ts'

const { newFolder, start, close } = createStandaloneWorld()
let redis: TestRedis

beforeAll(async () => {
  redis = await startRedis()
})

afterAll(async () => {
  await close()
  await redis.stop()
})

const CRON = { url: 'https://a.test/', cron_expression: '0 0 1 1 *' }
const HAND_WRITTEN = `
apiVersion: punctual.dev/v1alpha1
kind: HttpCron
metadata: { name: by-hand }
spec: { url: "https://a.test", cronExpression: 0 0 1 1 * }
`

const fill = () => redis.client.config('SET', 'maxmemory', '1')
const makeRoom = () => redis.client.config('SET', 'maxmemory', '0')

test('when Redis is full, what is refused leaves nothing, and what is there can be deleted', async () => {
  const folder = newFolder()
  const { program, client } = await start(folder, { PUNCTUAL_REDIS_URL: redis.url })
  const manifests = () => readdirSync(join(folder, 'resources')).toSorted()
  const crons = async () => (await client.send<CronList>('GET', '/api/crons')).body.crons
  const kept = await client.send<CreatedCron>('POST', '/api/crons', { ...CRON, name: 'kept' })
  expect(kept.status).toBe(201)
  const [mail, pushed] = [await client.makeQueue('mail', { max_parallelism: 2 }), 'never-edited']
  await client.push({ queue: 'mail', url: 'https://a.test/', delay: 3600 })
  await client.push({ queue: pushed, url: 'https://a.test/', delay: 3600 })
  const pushedId = (await client.queueNamed(pushed))?.queue_id
  const before = manifests()
  const known = await crons()

  await fill()
  expect(await client.send('POST', '/api/jobs', { queue: 'mail', url: 'https://a.test/' })).toMatchObject({
    status: 503,
  })
  expect(await client.send('POST', '/api/crons', { ...CRON, name: 'refused' })).toMatchObject({ status: 503 })
  expect(manifests()).toEqual(before)

  // Neither that refusal nor what a person has written meanwhile stands in the way of others.
  writeFileSync(join(folder, 'resources', 'by-hand.yaml'), HAND_WRITTEN)
  await program.logged('Changed manifests could not be applied yet')
  expect(await client.send('PATCH', `/api/crons/${kept.body.id}`, { is_active: false })).toMatchObject({
    status: 200,
  })
  expect(await client.send('DELETE', `/api/queues/${mail}`)).toMatchObject({ status: 204 })
  expect(await client.send('DELETE', `/api/queues/${pushedId}`)).toMatchObject({ status: 204 })
  expect(await client.queueNamed('mail')).toBeNull()

  await makeRoom()
  await until('what the person wrote is in force', async () => (await crons()).length > known.length)
  expect((await crons()).map(({ name }) => name).toSorted()).toEqual(
    [...known.map(({ name }) => name), 'by-hand'].toSorted(),
  )
  expect(manifests()).toEqual(
    [...before.filter((name) => !name.startsWith('mail-')), 'by-hand.yaml'].toSorted(),
  )
  expect(readFileSync(join(folder, 'resources', 'by-hand.yaml'), 'utf8')).toBe(HAND_WRITTEN)
  expect(await stopProgram(program, { errors: ['Changed manifests could not be applied yet'] })).toEqual([])
})
