/** `punctual doctor` as a real process, beside an API and executors that work. */
import { execFile } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HealthReport } from '../../../../src/roles/doctor/health-report.ts'
import { createShardKeys } from '../../../../src/redis/base/layout/keys.ts'
import { startInstallation, type Installation } from '../../../support/engine/installation.ts'
import { makeKeptFolder } from '../../../support/engine/kept-folder.ts'
import { programCommand, programEnv, runProgram } from '../../../support/servers/processes.ts'
import { startCluster } from '../../../support/redis/redis-cluster.ts'
import { startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'
import { createStandaloneWorld } from '../../../support/servers/standalone-world.ts'
import { until } from '../../../support/until.ts'

const QUEUES = 12
const PUSHERS = 6
const RUN_TIMEOUT_MS = 240_000
const SECRETS = { PUNCTUAL_SECRETS_KEY: Buffer.alloc(32).toString('base64') }

interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
}

function doctor(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run> {
  const [node = '', ...main] = programCommand()
  return new Promise((resolve) => {
    execFile(node, [...main, 'doctor', ...args], { env: { ...programEnv(), ...env } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

async function report(env: Readonly<Record<string, string>>): Promise<HealthReport> {
  const { out } = await doctor(env, '--json')
  return JSON.parse(out) as HealthReport
}

function findingsOf({ checks }: HealthReport): string[] {
  return checks.flatMap(({ name, findings }) =>
    findings.map(({ severity, subject, message }) => `${name} ${severity}: ${subject}: ${message}`),
  )
}

describe('an installation at work', () => {
  let here: Installation
  beforeAll(async () => {
    here = await startInstallation({ executors: 2 })
  }, RUN_TIMEOUT_MS)
  afterAll(() => here.close())

  /** Pushes, runs, fails, retries and cancels until told to stop, no faster than jobs are called: no backlog is left. */
  async function work(signal: { isOver: boolean }, pusher: number): Promise<void> {
    for (let at = pusher; !signal.isOver; at += PUSHERS) {
      const path = `/${at % 5 === 0 ? 'failing' : 'fine'}/${at}`
      const isCancelled = at % 7 === 0
      const { job_id: id } = await here.client.push({
        queue: `load-${at % QUEUES}`,
        url: here.target.url + path,
        ...(isCancelled && { delay: 1 }),
      })
      if (isCancelled) await here.client.send('DELETE', `/api/jobs/${id}`)
      else await here.target.arrived(path)
    }
  }

  test(
    'has no findings while jobs come, run, fail and are cancelled',
    async () => {
      here.target.route('/failing', () => ({ status: 500 }))
      for (let at = 0; at < QUEUES; at += 1) {
        await here.client.makeQueue(`load-${at}`, { max_parallelism: 1 + (at % 3), retry_delays: [1] })
      }
      const signal = { isOver: false }
      const working = Array.from({ length: PUSHERS }, (_, pusher) => work(signal, pusher))
      await until('jobs run', () => here.target.arrivals().length > 50)
      const before = here.target.arrivals().length
      const healthy = await doctor(here.env)
      // Damage in a queue that nobody uses is found among them.
      const stray = createShardKeys(1).queue('1').trashedPayloads
      await here.redis.client.hset(stray, '1', 'x')
      const found = findingsOf(await report(here.env))
      await here.redis.client.del(stray)
      const meanwhile = here.target.arrivals().length - before
      signal.isOver = true
      await Promise.all(working)
      await until('every chain has ended', async () => (await openJobs()) === 0)
      expect(meanwhile).toBeGreaterThan(100)
      expect({ ...healthy, out: healthy.out.match(/To do/g) }).toEqual({ code: 0, err: '', out: null })
      // Each holds a lease in each of the four shards.
      expect(healthy.out).toMatch(/^ok +leases +2 executors alive$/m)
      expect(found.filter((each) => !/trash of queue 1 is|trash:1:b/.test(each))).toEqual([
        `data failed: ${stray}: It was left behind.`,
      ])
    },
    RUN_TIMEOUT_MS,
  )

  async function openJobs(): Promise<number> {
    const shards = [0, 1, 2, 3].map((shard) => createShardKeys(shard).teamUsage)
    const counts = await Promise.all(shards.map((key) => here.redis.client.hget(key, 'default:j')))
    return counts.reduce((sum, count) => sum + Number(count ?? 0), 0)
  }
})

describe('an installation at rest', () => {
  let here: Installation
  let redis: TestRedis['client']
  const shards = [0, 1, 2, 3].map((shard) => createShardKeys(shard))
  const keys = shards[0] as (typeof shards)[number]

  beforeAll(async () => {
    here = await startInstallation()
    redis = here.redis.client
    await here.withCompiler((compiler) =>
      compiler.putTeam('sealed', { egressAllow: [], signingSecrets: ['whsec_c2VjcmV0'] }),
    )
    await here.withCompiler((compiler) =>
      compiler.putOwnSecrets(
        { team: 'sealed', kind: 'queue', name: 'mail' },
        { signingSecrets: ['whsec_c2VjcmV0'], signingSecretRefs: [], headerValues: {} },
      ),
    )
    const { job_id: id } = await here.client.push({ queue: 'emails', url: here.target.url })
    await here.client.ended(id)
    for (const executor of here.executors) {
      executor.signal('SIGTERM')
      await executor.exited
    }
    here.api.program.signal('SIGTERM')
    await here.api.program.exited
  }, RUN_TIMEOUT_MS)
  afterAll(async () => {
    // The damage goes with the data: else the end would wait for its slot.
    await redis.flushall()
    await here.close()
  })

  test('is healthy, says so in one line a check, and is left as it was', async () => {
    const changes = async () => /rdb_changes_since_last_save:(\d+)/.exec(await redis.info('persistence'))?.[1]
    const before = await changes()
    const run = await doctor(here.env)
    expect(run).toMatchObject({ code: 0, err: '' })
    const names = run.out
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/).slice(0, 2).join(' '))
    expect(names).toEqual(
      ['redis', 'installation', 'secrets', 'tokens', 'clock', 'losses', 'leases', 'data'].map(
        (name) => `ok ${name}`,
      ),
    )
    expect(await changes()).toBe(before)
  })

  test('--json is one document', async () => {
    const json = await report(here.env)
    expect(json).toMatchObject({ version: expect.any(String) as string, is_healthy: true })
    expect(new Date(json.checked_at).toISOString()).toBe(json.checked_at)
    expect(json.checks.map(({ name, status }) => [name, status])).toContainEqual(['data', 'ok'])
  })

  test('a master key that opens nothing is found, with the teams it does not open', async () => {
    const env = { ...here.env, PUNCTUAL_SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') }
    const found = findingsOf(await report(env)).join('\n')
    expect(found).toMatch(/^secrets failed: team sealed: Its secrets cannot be opened/)
    expect(found).toMatch(/^secrets failed: queue mail of team sealed: Its secrets cannot be opened/m)
    const key = { ...here.env, PUNCTUAL_OTHER_SECRETS_KEYS: here.env.PUNCTUAL_SECRETS_KEY ?? '' }
    const next = { ...key, PUNCTUAL_SECRETS_KEY: env.PUNCTUAL_SECRETS_KEY }
    expect(findingsOf(await report(next))).toEqual(
      ['team sealed', 'queue mail of team sealed'].map(
        (name) => `secrets warning: ${name}: Its secrets are sealed under a former key.`,
      ),
    )
  })

  test('one check alone can be made, and decides the exit code', async () => {
    const stranger = { ...here.env, PUNCTUAL_SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') }
    const only = async (env: Readonly<Record<string, string>>, name: string) => {
      const { code, out } = await doctor(env, '--only', name)
      return { code, checks: out.match(/^\w+ +\w+(?= )/gm) }
    }
    expect(await only(here.env, 'secrets')).toEqual({ code: 0, checks: ['ok       secrets'] })
    expect(await only(stranger, 'secrets')).toEqual({ code: 1, checks: ['failed   secrets'] })
    expect(await only(stranger, 'tokens')).toEqual({ code: 0, checks: ['ok       tokens'] })
    const { code, err } = await doctor(here.env, '--only', 'keys')
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('secrets, tokens') as string })
  })

  test('a port of Redis that network policies open everywhere is a warning', async () => {
    const { code, out } = await doctor({ ...here.env, PUNCTUAL_REDIS_OPEN_PORT: 'true' }, '--only', 'redis')
    expect(code).toBe(1)
    expect(out).toMatch(
      /^warning {2}redis .*\n +warning: network policies\n.*any address.*\n.*redis\.external\.cidrs/m,
    )
    expect((await doctor(here.env, '--only', 'redis')).code).toBe(0)
  })

  test('other shards than the settings say are found', async () => {
    const found = findingsOf(await report({ ...here.env, PUNCTUAL_SHARDS: '8' })).join('\n')
    expect(found).toMatch(/^installation failed: punctual:meta: It has 4 shards, and these settings say 8/)
  })

  test('damage of every kind is found', async () => {
    await Promise.all([
      plantReady(),
      plantSlot(),
      plantDeadExecutor(),
      redis.hincrby(keys.teamUsage, 'default:j', 5),
      redis.set('punctual:else', 'x'),
      redis.del(keys.created),
      redis.hset('punctual:tokens', '["a","b"]', '7 short'),
      redis.hset('punctual:teams', 'torn', '7 {'),
      redis.hset(keys.clock, 't', String(Date.now() + 600_000)),
      redis.hset(keys.clock, 'n', '218', 'na', String(Date.now())),
      redis.config('SET', 'maxmemory-policy', 'allkeys-lru'),
    ])
    const [{ code, out }, json] = await Promise.all([doctor(here.env), report(here.env)])
    expect(code).toBe(1)
    expect(out).toContain('To do: ')
    expect(json.is_healthy).toBe(false)
    expect(new Set(json.checks.map(({ status }) => status))).toEqual(new Set(['failed']))
    const found = findingsOf(json).join('\n')
    for (const expected of [
      /^data failed: .*ring: It lacks queue/m,
      /^data failed: .*:a:\d+ \(queue emails of team default\): It has job 8/m,
      /^data failed: .*:tu: It says 5 of default:j/m,
      /^data failed: punctual:else: It is used by no part/m,
      /^installation failed: .*mark: Shard 0 is not marked/m,
      /^leases failed: executor gone~1 in shard 0: Its lease ended \d+ s ago.*1 entries/m,
      /^tokens failed: token \["a","b"\]/m,
      /^secrets failed: team torn: Its settings/m,
      /^clock failed: shard 0: The last step ran/m,
      /^losses failed: shard 0: Redis came back with less .*; 218 accepted jobs of this shard are known to be lost/m,
      /^redis failed: .*maxmemory-policy is allkeys-lru/m,
    ]) {
      expect(found).toMatch(expected)
    }
  })

  async function idOfEmails(): Promise<{ shard: number; id: string }> {
    for (const { shard, queueIds } of shards) {
      const id = await redis.hget(queueIds, 'default/emails')
      if (id !== null) return { shard, id }
    }
    throw new Error('there is no such queue')
  }

  async function plantSlot(): Promise<void> {
    const { shard, id } = await idOfEmails()
    await redis.zadd(createShardKeys(shard).queue(id).inFlight, 1, '8')
  }

  async function plantReady(): Promise<void> {
    const { shard, id } = await idOfEmails()
    await redis.rpush(createShardKeys(shard).queue(id).ready, '1')
  }

  async function plantDeadExecutor(): Promise<void> {
    await redis.zadd(keys.executors, Date.now() - 60_000, 'gone~1')
    await redis.hset(keys.heldJobs('gone~1'), '#c', 'x 1 1')
  }
})

describe.concurrent('other places', () => {
  test('a standalone is found by its data folder', async () => {
    const world = createStandaloneWorld()
    try {
      const folder = world.newFolder()
      await world.start(folder)
      const { code, out } = await doctor({ PUNCTUAL_DATA_DIR: folder })
      expect({ code, lines: out.match(/^ok/gm)?.length }).toEqual({ code: 0, lines: 8 })
    } finally {
      await world.close()
    }
  })

  test('of a Cluster every node is checked', async () => {
    const nodes = await startCluster()
    const env = { ...SECRETS, PUNCTUAL_REDIS_URL: nodes[0].url, PUNCTUAL_PORT: '0', PUNCTUAL_OPS_PORT: '0' }
    const api = runProgram(['api'], {
      ...env,
      ...makeKeptFolder().env(),
      PUNCTUAL_TOKEN: 'a-token-of-team-default',
    })
    try {
      await api.logged('The API listens')
      expect(await doctor(env)).toMatchObject({ code: 0, err: '' })
      await nodes[1].client.config('SET', 'appendonly', 'no')
      const found = findingsOf(await report(env))
      expect(found).toEqual([
        expect.stringMatching(`^redis failed: .* port ${nodes[1].port}: Redis would lose jobs at a restart`),
      ])
    } finally {
      api.signal('SIGTERM')
      await api.exited
      await Promise.all(nodes.map((node) => node.stop()))
    }
  })
})

describe.concurrent('what cannot be checked ends with 2', () => {
  test.each([
    [
      'a Redis that is away',
      { ...SECRETS, PUNCTUAL_REDIS_URL: 'redis://127.0.0.1:1' },
      'Redis does not answer',
    ],
    [
      'no Redis and no data folder',
      { PUNCTUAL_DATA_DIR: '/nowhere' },
      'PUNCTUAL_REDIS_URL and PUNCTUAL_SECRETS_KEY must be set',
    ],
    ['a setting that is no such', { ...SECRETS, PUNCTUAL_SHARDS: 'many' }, 'PUNCTUAL_SHARDS is "many"'],
  ])('%s', async (_, env, text) => {
    const { code, out, err } = await doctor(env)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(`punctual: ${text}`)
  })

  test('a Redis without an installation is a finding', async () => {
    const empty = await startRedis()
    try {
      const { code, out } = await doctor({ ...SECRETS, PUNCTUAL_REDIS_URL: empty.url })
      expect(code).toBe(1)
      expect(out).toContain('Redis holds no installation of Punctual.')
    } finally {
      await empty.stop()
    }
  })
})
