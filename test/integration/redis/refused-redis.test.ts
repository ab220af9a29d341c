import { afterAll, describe, expect, test } from 'vitest'
import { makeKeptFolder } from '../../support/engine/kept-folder.ts'
import { runProgram, stopProgram } from '../../support/servers/processes.ts'
import { freePort, startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'

const SETTINGS = {
  PUNCTUAL_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  PUNCTUAL_PORT: '0',
  PUNCTUAL_OPS_PORT: '0',
  ...makeKeptFolder().env(),
}

describe('a Redis', () => {
  const unsafe: TestRedis[] = []
  afterAll(() => Promise.all(unsafe.map((redis) => redis.stop())))

  test.for([
    {
      setting: ['--maxmemory-policy', 'allkeys-lru'],
      sentence:
        'Redis may evict jobs (maxmemory-policy is allkeys-lru): run "redis-cli CONFIG SET maxmemory-policy noeviction".',
    },
    {
      setting: ['--appendonly', 'no'],
      sentence:
        'Redis would lose jobs at a restart (appendonly is no): run "redis-cli CONFIG SET appendonly yes".',
    },
  ])(
    'that would lose jobs ($setting) is refused with what mends it, unless it is wanted',
    async ({ setting, sentence }) => {
      const redis = await startRedis({ settings: setting })
      unsafe.push(redis)
      for (const role of ['api', 'executor']) {
        const refused = runProgram([role], { ...SETTINGS, PUNCTUAL_REDIS_URL: redis.url })
        expect(await refused.exited).toEqual({ code: 2, signal: null })
        expect(refused.errorLines).toEqual([
          `punctual: ${sentence} Or set PUNCTUAL_ALLOW_UNSAFE_REDIS=true to accept the loss of jobs.`,
        ])
        expect(refused.log.filter((line) => line.level === 'error')).toEqual([])
      }
      const wanted = runProgram(['api', '--allow-unsafe-redis'], {
        ...SETTINGS,
        PUNCTUAL_REDIS_URL: redis.url,
      })
      await wanted.logged('The API listens')
      expect(wanted.log).toContainEqual(
        expect.objectContaining({ level: 'warn', msg: 'Redis is not safe for jobs', problem: sentence }),
      )
      expect(await stopProgram(wanted)).toEqual([])
    },
  )

  test('that has another number of shards is refused with the number it has', async () => {
    const redis = await startRedis()
    unsafe.push(redis)
    const first = runProgram(['api', '--shards', '2'], { ...SETTINGS, PUNCTUAL_REDIS_URL: redis.url })
    await first.logged('The API listens')
    expect(await stopProgram(first)).toEqual([])
    const other = runProgram(['executor'], { ...SETTINGS, PUNCTUAL_REDIS_URL: redis.url })
    expect(await other.exited).toEqual({ code: 2, signal: null })
    expect(other.errorLines).toEqual([
      'punctual: Redis holds 2 shards and the number cannot change: set PUNCTUAL_SHARDS=2, not 4.',
    ])
  })

  test.each([
    {
      version: '2',
      problem:
        'which no release has written and this program cannot read (it reads version 3): let the program that wrote it work off its jobs, then start this one on an empty Redis.',
    },
    {
      version: '4',
      problem:
        'which is newer than what this program reads (version 3): start the version of Punctual that wrote it, or use another Redis.',
    },
  ])('that holds data of version $version is refused, and left as it is', async ({ version, problem }) => {
    const redis = await startRedis()
    unsafe.push(redis)
    const facts = { version, shards: '4', installation: '0123456789ab' }
    await redis.client.hset('punctual:meta', facts)
    const env = { ...SETTINGS, PUNCTUAL_REDIS_URL: redis.url }
    const sentence = `Redis holds data of version ${version}, ${problem}`
    for (const role of ['api', 'executor']) {
      const refused = runProgram([role], env)
      expect(await refused.exited).toEqual({ code: 2, signal: null })
      expect(refused.errorLines).toEqual([`punctual: ${sentence}`])
    }
    const doctor = runProgram(['doctor', '--only', 'installation'], env)
    expect((await doctor.exited).code).toBe(1)
    expect(doctor.strayLines.join('\n')).toContain(sentence)
    expect(await redis.client.keys('*')).toEqual(['punctual:meta'])
    expect(await redis.client.hgetall('punctual:meta')).toEqual(facts)
  })

  test('that does not answer is waited for and named without its password', async () => {
    const port = await freePort()
    const sentence = `Redis does not answer at redis://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}.`
    const url = `redis://:secret@password@127.0.0.1:${port}`
    for (const role of ['api', 'executor']) {
      const early = runProgram([role], { ...SETTINGS, PUNCTUAL_REDIS_URL: url })
      const { reason } = await early.logged('Waiting for Redis')
      expect(reason).toBe(`${sentence} Start it, or set PUNCTUAL_REDIS_URL.`)
      // Its stop is as clean as any.
      expect(await stopProgram(early)).toEqual([])
    }
  })

  test('may have a password of any characters, which is never logged', async () => {
    const password = ' a/b#c?d%41@e:f é"$\\'
    const locked = await startRedis({ password })
    unsafe.push(locked)
    const env = { ...SETTINGS, PUNCTUAL_REDIS_URL: locked.url, PUNCTUAL_LOG_LEVEL: 'debug' }
    const api = runProgram(['api'], { ...env, PUNCTUAL_REDIS_PASSWORD: password })
    await api.logged('The API listens')
    const executor = runProgram(['executor'], { ...env, PUNCTUAL_REDIS_PASSWORD: password })
    await executor.logged('The executor runs')
    expect(await locked.client.client('LIST')).toMatch(/name=punctual-api/)
    for (const program of [api, executor]) {
      expect(await stopProgram(program)).toEqual([])
      expect(JSON.stringify(program.log)).not.toMatch(/a\/b#c|a%2Fb/i)
    }
    const refused = runProgram(['executor'], { ...env, PUNCTUAL_REDIS_PASSWORD: password.trim() })
    expect(await refused.exited).toEqual({ code: 2, signal: null })
    expect(refused.errorLines).toEqual([expect.stringContaining('WRONGPASS')])
    expect(refused.errorLines.join()).not.toMatch(/a\/b#c|a%2Fb/i)
  })

  test('that is full before anything of ours is in it says so in one line', async () => {
    const full = await startRedis({ settings: ['--maxmemory', '1mb'] })
    unsafe.push(full)
    await until('it is full', async () => {
      const filled = await full.client.set('another program', 'x'.repeat(1_000_000)).catch(() => null)
      return filled === null
    })
    for (const role of ['api', 'executor']) {
      const refused = runProgram([role], { ...SETTINGS, PUNCTUAL_REDIS_URL: full.url })
      expect(await refused.exited).toEqual({ code: 2, signal: null })
      expect(refused.errorLines).toEqual([
        'punctual: Redis is full, and it does not hold this installation yet: raise its maxmemory, or use another Redis.',
      ])
      expect([...refused.strayLines, ...refused.log]).toEqual([])
    }
  })

  test('that does not take the password says so in one line', async () => {
    const locked = await startRedis()
    await locked.client.config('SET', 'requirepass', 'right')
    const refused = runProgram(['executor'], {
      ...SETTINGS,
      PUNCTUAL_REDIS_URL: `redis://:wrong@127.0.0.1:${locked.port}`,
    })
    expect(await refused.exited).toEqual({ code: 2, signal: null })
    expect(refused.errorLines).toEqual([expect.stringContaining('WRONGPASS')])
    expect([...refused.strayLines, ...refused.log]).toEqual([])
    await locked.stop()
  })
})
