import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { CronList } from '../../../clients/typescript/src/generated/wire.ts'
import { stopProgram } from '../../support/servers/processes.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { until } from '../../support/until.ts'

const { newFolder, start, close } = createStandaloneWorld()
afterAll(close)

const QUEUE = `# how mails go out
- apiVersion: punctual.dev/v1alpha1
  kind: HttpQueue
  metadata:
    name: mail
  spec:
    maxParallelism: 2 # their wish
`
const CRON = `# every morning
- apiVersion: punctual.dev/v1alpha1
  kind: HttpCron
  metadata:
    name: daily
  spec:
    url: "https://a.test"   # theirs
    cronExpression: 0 8 * * *
`
const SMS = `- apiVersion: punctual.dev/v1alpha1
  kind: HttpQueue
  metadata: { name: sms }
  spec: {}
`
const list = (items: string) =>
  `# what kubectl get -o yaml prints\napiVersion: v1\nitems:\n${items}kind: List\nmetadata:\n  resourceVersion: ""\n`

test('what stands in a list is applied, edited and removed through the API, item by item', async () => {
  const folder = newFolder()
  const resources = join(folder, 'resources')
  const file = join(resources, 'all.yaml')
  mkdirSync(resources)
  writeFileSync(file, list(QUEUE + CRON + SMS))
  const { program, client } = await start(folder)
  const mail = await client.queueNamed('mail')
  expect(mail).toMatchObject({ max_parallelism: 2 })
  const path = `/api/queues/${mail?.queue_id}`
  expect(await client.send('PATCH', path, { max_parallelism: 5 })).toMatchObject({ status: 200 })
  const edited = QUEUE.replace('2 #', '5 #')
  expect(readFileSync(file, 'utf8')).toBe(list(edited + CRON + SMS))

  const { crons } = (await client.send<CronList>('GET', '/api/crons')).body
  expect(crons).toMatchObject([{ name: 'daily', url: 'https://a.test' }])
  expect((await client.send('DELETE', `/api/crons/${crons[0]?.id}`)).status).toBe(204)
  expect(readFileSync(file, 'utf8')).toBe(list(edited + SMS))

  writeFileSync(file, list(edited + SMS.replace('{}', '{ maxParallelism: 0 }')))
  expect(await program.logged('A manifest has a problem')).toMatchObject({
    problem: expect.stringContaining('all.yaml, document 1, item 2, line ') as string,
  })
  writeFileSync(file, list(edited))
  await until('the queue of the item is gone', async () => (await client.queues()).queues.length === 1)
  expect((await client.send('DELETE', path)).status).toBe(204)
  expect(readdirSync(resources)).toEqual(['.punctual-store'])
  expect(await stopProgram(program)).toEqual([])
})
