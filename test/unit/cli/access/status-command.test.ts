import { expect, test } from 'vitest'
import type { Status } from '../../../../clients/typescript/src/client.ts'
import { operations } from '../../../support/rules/contract-document.ts'
import { useApi } from '../cli-fixture.ts'

const api = useApi()

function exampleOfContract(): Status {
  const found = operations().find(({ operation }) => operation.operationId === 'readStatus')
  if (found === undefined) throw new Error('the contract has no status')
  const { responses } = found.operation as unknown as {
    responses: Record<string, { content: Record<string, { examples: Record<string, { value: Status }> }> }>
  }
  const value = responses['200']?.content['application/json']?.examples['admin']?.value
  if (value === undefined) throw new Error('the contract has no example of a status')
  return value
}

const EXAMPLE = exampleOfContract()

async function shown(change: Partial<Status> = {}): Promise<readonly string[]> {
  api.answer = { status: 200, body: JSON.stringify({ ...EXAMPLE, ...change }) }
  const { out } = await api.run(['status'])
  return out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))
}

test('an admin sees the team, the executors and Redis', async () => {
  const lines = await shown()
  expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/status' })
  expect(lines).toEqual([
    'punctual 0.1.0, team shop',
    'executors: alive in every shard',
    'backlog: 1042 pending, 7 in flight, 900 startable, 12 stopped, the oldest startable for 1.5 s',
    'lateness: p50 5.657 ms, p99 90.51 ms over the last 5 minutes',
    'QUOTA  USED  LIMIT',
    'queues  12  10000',
    'crons  3  500',
    'pending jobs  1042  1000000',
    'stored bytes  734003  -',
    'jobs per month  88211  -',
    'calls in flight  7  -',
    'installation: 4 shards, settings in kubernetes, leader epoch 12',
    'all teams: 1400 ready, 31 in flight, 12 due soon, the oldest startable for 1.5 s',
    'executors alive: 1, slots: 256',
    'EXECUTOR  SLOTS  CALLS  SHARDS  LEASE',
    'punctual-executor-7d9c-abcde  256  31  4  11 s',
    'REDIS  VERSION  MEMORY  LIMIT  AOF  SAVED  REPLICAS',
    '10.0.0.7:6379  8.2.1  700 MiB  1024 MiB  on  2026-11-21T10:00:00.000+00:00  0 s behind',
    '',
  ])
})

test('a reader is told what is missing, and what is not known', async () => {
  const lines = await shown({
    installation: null,
    executors_alive: false,
    backlog: null,
    lateness_ms: null,
    usage: null,
    unknown: [{ part: 'usage', reason: 'Redis does not answer.' }],
  })
  expect(lines.slice(1)).toEqual([
    'executors: NONE ALIVE in at least one shard, so its jobs wait',
    'backlog: not known',
    'lateness: no job ended in the last 5 minutes',
    'installation: shown to admins only',
    'usage: Redis does not answer.',
    '',
  ])
})

test('a Redis that is away, or at risk, stands out', async () => {
  const { installation } = EXAMPLE
  const [server] = installation?.redis ?? []
  if (installation === null || server === undefined) throw new Error('the example has no installation')
  const lines = await shown({
    installation: {
      ...installation,
      executors: { alive: 0, slots: 0, expired_leases: 2, executors: [] },
      redis: [
        { ...server, answers: false },
        { ...server, append_only_written: false, replicas: [], risks: ['It may evict jobs.'] },
        { ...server, append_only: false, replicas: [{ name: 'r', is_online: false, lag_seconds: 0 }] },
      ],
    },
  })
  expect(lines).toContain('executors alive: 0, slots: 0, 2 leases have ended')
  expect(lines).toContain('10.0.0.7:6379  away  -  -  -  -  -')
  expect(lines.filter((line) => line.includes('FAILING') && line.endsWith('none'))).toHaveLength(1)
  expect(lines.filter((line) => line.includes('off') && line.endsWith('not in step'))).toHaveLength(1)
  expect(lines).toContain('10.0.0.7:6379: It may evict jobs.')
})

test('a standalone has no leader, and where no job is startable that is said once', async () => {
  const { installation, backlog } = EXAMPLE
  if (installation === null || installation.backlog === null || backlog === null)
    throw new Error('no example')
  const lines = await shown({
    backlog: { ...backlog, startable: 0, oldest_startable_seconds: null },
    installation: {
      ...installation,
      resources: 'folder',
      leader_epoch: null,
      backlog: { ...installation.backlog, ready: 0, oldest_startable_seconds: null },
    },
  })
  expect(lines.filter((line) => /startable|leader|due soon/.test(line))).toEqual([
    'backlog: 1042 pending, 7 in flight, 0 startable, 12 stopped',
    'all teams: 0 ready, 31 in flight, 12 due soon',
  ])
  expect(lines).toContain('installation: 4 shards, settings in folder')
})
