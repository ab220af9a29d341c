import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { nameField } from '../../../src/redis/base/layout/keys.ts'
import { makeKeptFolder } from '../../support/engine/kept-folder.ts'
import { createApiClient } from '../../support/servers/api-client.ts'
import { runProgram, stopProgram } from '../../support/servers/processes.ts'
import { startCluster } from '../../support/redis/redis-cluster.ts'
import { latch, startTarget } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

const SHARDS = 8
const TOKEN = 'token-of-team-default'
const LOST = 'The lease of a shard was lost; its calls are aborted and their results discarded'
const HELD_MS = 40_000

/** A queue that lives in a shard: those with odd numbers are on the second node. */
function queueIn(shard: number): string {
  for (let i = 0; ; i += 1) if (crc32(nameField('default', `q${i}`)) % SHARDS === shard) return `q${i}`
}

test('a node of a Cluster that is silent costs its own shards their leases, and the others nothing', async () => {
  const [nodes, target] = await Promise.all([
    startCluster(['--cluster-node-timeout', '60000']),
    startTarget(),
  ])
  const env = {
    PUNCTUAL_REDIS_URL: nodes[0].url,
    PUNCTUAL_SECRETS_KEY: randomBytes(32).toString('base64'),
    PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
    PUNCTUAL_SHARDS: String(SHARDS),
    PUNCTUAL_PORT: '0',
    PUNCTUAL_OPS_PORT: '0',
  }
  const api = runProgram(['api'], { ...env, ...makeKeptFolder().env(), PUNCTUAL_TOKEN: TOKEN })
  const client = createApiClient(String((await api.logged('The API listens'))['url']), TOKEN)
  const executor = runProgram(['executor'], env)
  await executor.logged('The executor holds its leases')
  const ops = String((await executor.logged('The executor runs'))['opsUrl'])
  const held = latch()
  target.route('/held', held.answering)
  const hold = (shard: number) =>
    client.push({ queue: queueIn(shard), url: `${target.url}/held/${shard}`, timeout_seconds: 300 })
  const ids = await Promise.all(Array.from({ length: SHARDS }, (_, shard) => hold(shard)))
  const later = await client.push({ queue: queueIn(0), url: `${target.url}/later`, delay: 3_600 })
  await until('all are called', () => target.openNow() === SHARDS)

  nodes[1].process.kill('SIGSTOP')
  // The windows and the tokens of all teams are on the silent node.
  expect(await client.job(later.job_id)).toMatchObject({ waiting: { reason: 'not_due' } })
  const lostShards = () => executor.log.filter(({ msg }) => msg === LOST).map(({ shard }) => Number(shard))
  // While its connection is found silent and made anew, and until its leases are over.
  let pushed = 0
  while (lostShards().length < SHARDS / 2 || pushed < SHARDS / 2) {
    const shard = 2 * (pushed % 4)
    const { job_id: id } = await client.push({ queue: queueIn(shard), url: `${target.url}/quick` })
    await client.ended(id)
    pushed += 1
  }
  expect(lostShards().toSorted((a, b) => a - b)).toEqual([1, 3, 5, 7])
  await until('the calls of silent shards are cut', () => target.openNow() === SHARDS / 2)
  const ready = await fetch(`${ops}/readyz`)
  expect(ready.status).toBe(200)
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  expect(metrics).toMatch(/^punctual_shards_held 4$/m)

  const lines = executor.log.length
  nodes[1].process.kill('SIGCONT')
  await executor.logged('The executor holds its leases', { after: lines, timeoutMs: HELD_MS })
  expect(lostShards()).toHaveLength(4)
  held.open()
  for (const { job_id: id } of ids) {
    // The API asks a node that did not answer once a second, and answers 503 until then.
    const isBack = async () => (await client.send('GET', `/api/jobs/${id}`)).status === 200
    await until(`the API reads job ${id}`, isBack)
    expect(await client.ended(id, HELD_MS)).toMatchObject({ final_status: 'success', attempt_number: 1 })
  }
  for (let shard = 0; shard < SHARDS; shard += 1) {
    expect(target.arrivals(`/held/${shard}`), `shard ${shard}`).toHaveLength(shard % 2 === 0 ? 1 : 2)
  }
  for (const program of [executor, api]) expect(await stopProgram(program)).toEqual([])
  await Promise.all([...nodes.map((node) => node.stop()), target.close()])
})
