import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { StartupError } from '../../../src/domain/errors.ts'
import {
  loadUninstallSettings,
  describeSettings,
  loadApiSettings as loadApi,
  loadControllerSettings,
  loadExecutorSettings,
  loadStandaloneSettings,
  unknownVariables,
} from '../../../src/settings/role-settings.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

/** Of an API that is told what every API must be told: where its resources lie. */
const loadApiSettings: typeof loadApi = (env, flags) =>
  loadApi({ PUNCTUAL_RESOURCES: 'kubernetes', ...env }, flags)

function mistakesOf(load: () => unknown): string[] {
  try {
    load()
  } catch (error) {
    if (error instanceof StartupError) return error.message.split('\n')
    throw error
  }
  return []
}

const standaloneMistake = (variable: string, text: string) =>
  mistakesOf(() => loadStandaloneSettings({ [variable]: text }, {}))

describe('defaults', () => {
  it('are those of the reference', () => {
    expect(loadStandaloneSettings({}, {})).toEqual({
      publicUrl: null,
      dashboard: 'on',
      basePath: '',
      oidcIssuer: null,
      oidcClientId: null,
      oidcClientSecret: null,
      oidcScopes: 'openid profile email',
      oidcUserClaim: 'sub',
      oidcGroupsClaim: 'groups',
      oidcUserPrefix: '',
      oidcGroupsPrefix: '',
      oidcGroupRoles: null,
      port: 8080,
      host: '127.0.0.1',
      opsPort: 9090,
      dataDir: resolve('.punctual'),
      appliedResources: 'editable',
      resources: resolve('.punctual/resources'),
      redisUrl: null,
      redisCa: null,
      redisCert: null,
      redisDurability: 'relaxed',
      redisKey: null,
      redisSentinels: null,
      redisSentinelPassword: null,
      redisMaxmemoryBytes: 1024 ** 3,
      allowUnsafeRedis: false,
      shards: 4,
      executorConcurrency: 1000,
      concurrencyReserve: null,
      teamShare: 0.9,
      queueShare: 0.8,
      callBytes: null,
      graceSeconds: 10,
      maxConnections: 4096,
      trustedProxies: [],
      intakeBytes: 128 * 1024 ** 2,
      clockHoldSeconds: 0,
      testClock: false,
      token: null,
      secretsKey: null,
      otherSecretsKeys: [],
      egressAllow: [],
      egressDeny: [],
      egressAllowable: [],
      egressClusterCidrs: [],
      egressOwnHosts: [],
      quotaQueues: 10_000,
      quotaCrons: 500,
      quotaPendingJobs: 1_000_000,
      quotaStoredBytes: null,
      quotaJobsPerMonth: null,
      quotaCallsInFlight: null,
      historyBytes: null,
      mailServer: null,
      mailSender: null,
      logLevel: 'info',
      logFormat: 'auto',
    })
  })

  it.each([
    [{ PUNCTUAL_QUOTA_CRONS: 'none', PUNCTUAL_QUOTA_STORED_BYTES: '512MiB' }, null, 512 * 1024 ** 2],
    [{ PUNCTUAL_QUOTA_CRONS: '0', PUNCTUAL_QUOTA_STORED_BYTES: '0' }, 0, 0],
    [{ PUNCTUAL_QUOTA_CRONS: '1000000000', PUNCTUAL_QUOTA_STORED_BYTES: 'none' }, 1_000_000_000, null],
  ])('read quotas of %j', (env, quotaCrons, quotaStoredBytes) => {
    expect(loadStandaloneSettings(env, {})).toMatchObject({ quotaCrons, quotaStoredBytes })
  })

  it.each([
    ['PUNCTUAL_QUOTA_CRONS', '-1', 'a whole number from 0 to 1000000000, or none'],
    ['PUNCTUAL_QUOTA_CRONS', 'no', 'a whole number from 0 to 1000000000, or none'],
    ['PUNCTUAL_QUOTA_STORED_BYTES', '1.5g', 'bytes up to 4TiB, such as 512MiB, 1g or 1073741824, or none'],
  ])('refuse %s=%s', (variable, text, allowed) => {
    expect(standaloneMistake(variable, text).join()).toContain(allowed)
  })

  it.each([
    ['any', null],
    ['none', []],
    ['10.0.0.0/8, shop.internal', ['10.0.0.0/8', 'shop.internal']],
  ])('let teams open %s', (text, egressAllowable) => {
    const settings = loadStandaloneSettings({ PUNCTUAL_EGRESS_ALLOWABLE: text }, {})
    expect(settings).toMatchObject({ egressAllowable })
  })

  it('take blocks of the cluster and hosts of the API', () => {
    const given = {
      PUNCTUAL_EGRESS_CLUSTER_CIDRS: '10.96.0.0/12, fd00::/8',
      PUNCTUAL_EGRESS_OWN_HOSTS: 'Punctual.example.com, 203.0.113.7, [fd00::7]',
    }
    expect(loadStandaloneSettings(given, {})).toMatchObject({
      egressClusterCidrs: ['10.96.0.0/12', 'fd00::/8'],
      egressOwnHosts: ['punctual.example.com', '203.0.113.7', '[fd00::7]'],
    })
  })

  it.each([
    ['PUNCTUAL_EGRESS_CLUSTER_CIDRS', '10.96.0.1/12'],
    ['PUNCTUAL_EGRESS_CLUSTER_CIDRS', 'svc.cluster.local'],
    ['PUNCTUAL_EGRESS_CLUSTER_CIDRS', '10.96.0.0/12:443'],
    ['PUNCTUAL_EGRESS_OWN_HOSTS', 'https://a.test'],
    ['PUNCTUAL_EGRESS_OWN_HOSTS', 'a.test:8080'],
    ['PUNCTUAL_EGRESS_OWN_HOSTS', 'a.test/path'],
    ['PUNCTUAL_EGRESS_OWN_HOSTS', 'a..test'],
  ])('refuse %s=%s and name the entry', (variable, text) => {
    expect(standaloneMistake(variable, text).join()).toContain(JSON.stringify(text))
  })

  it('hold for an empty variable', () => {
    expect(loadStandaloneSettings({ PUNCTUAL_PORT: '', PUNCTUAL_TOKEN: ' ' }, {})).toMatchObject({
      port: 8080,
      token: null,
    })
  })

  it('cannot be changed afterwards', () => {
    const settings = loadStandaloneSettings({ PUNCTUAL_EGRESS_ALLOW: '10.0.0.0/8' }, {})
    expect(Object.isFrozen(settings)).toBe(true)
    expect(Object.isFrozen(settings.egressAllow)).toBe(true)
    expect(Object.isFrozen(loadStandaloneSettings({}, {}).egressDeny)).toBe(true)
  })
})

describe('the mail server', () => {
  const FROM = 'Punctual <alerts@a.test>'
  const URL = 'smtp://ada:s%40cret@mail.a.test'

  it('is read with its sender, and the log shows neither user nor password', () => {
    const settings = loadStandaloneSettings({ PUNCTUAL_SMTP_URL: URL, PUNCTUAL_SMTP_FROM: FROM }, {})
    expect(settings).toMatchObject({
      mailServer: { host: 'mail.a.test', port: 587, login: { user: 'ada', password: 's@cret' } },
      mailSender: { name: 'Punctual', address: 'alerts@a.test' },
    })
    expect(describeSettings({ ...settings })).toMatchObject({ mailServer: 'set' })
  })

  it.each([
    [{ PUNCTUAL_SMTP_URL: URL }, 'PUNCTUAL_SMTP_FROM is not set: '],
    [{ PUNCTUAL_SMTP_FROM: FROM }, 'PUNCTUAL_SMTP_URL is not set, '],
    [
      { PUNCTUAL_SMTP_URL: 'http://ada:s%40cret@a.test' },
      'PUNCTUAL_SMTP_URL has a value that is not allowed',
    ],
    [{ PUNCTUAL_SMTP_URL: URL, PUNCTUAL_SMTP_FROM: 'nobody' }, 'PUNCTUAL_SMTP_FROM is "nobody", which'],
  ])('that is %j is one mistake, without its password', (env, text) => {
    const shared = { PUNCTUAL_REDIS_URL: 'redis://a', PUNCTUAL_SECRETS_KEY: KEY }
    for (const load of [loadStandaloneSettings, loadExecutorSettings]) {
      const mistakes = mistakesOf(() => load({ ...shared, ...env }, {}))
      expect(mistakes).toEqual([expect.stringContaining(text)])
      expect(mistakes.join()).not.toContain('cret')
    }
  })
})

describe('precedence', () => {
  it('puts the flag above the variable', () => {
    const settings = loadStandaloneSettings({ PUNCTUAL_PORT: '1111' }, { port: '2222' })
    expect(settings.port).toBe(2222)
  })

  it('names the flag when the flag is wrong and the variable is not', () => {
    const mistakes = mistakesOf(() => loadStandaloneSettings({ PUNCTUAL_PORT: '1111' }, { port: 'x' }))
    expect(mistakes).toEqual([
      '--port is "x", which is not allowed: it must be a whole number from 0 to 65535.',
    ])
  })

  it('refuses an empty flag', () => {
    expect(mistakesOf(() => loadStandaloneSettings({}, { port: '' }))).toHaveLength(1)
  })

  it('takes the folder named for manifests, else the data folder of the flag', () => {
    expect(loadStandaloneSettings({ PUNCTUAL_DATA_DIR: '/a' }, { dataDir: '/b' }).resources).toBe(
      '/b/resources',
    )
    expect(loadStandaloneSettings({ PUNCTUAL_DATA_DIR: '/a', PUNCTUAL_RESOURCES: '/m' }, {}).resources).toBe(
      '/m',
    )
  })
})

describe('mistakes', () => {
  it('are reported all together, each with its name, value and what is allowed', () => {
    const mistakes = mistakesOf(() =>
      loadStandaloneSettings(
        { PUNCTUAL_PORT: '70000', PUNCTUAL_SHARDS: '65', PUNCTUAL_LOG_LEVEL: 'loud' },
        { executorConcurrency: '0' },
      ),
    )
    expect(mistakes).toEqual([
      'PUNCTUAL_PORT is "70000", which is not allowed: it must be a whole number from 0 to 65535.',
      'PUNCTUAL_SHARDS is "65", which is not allowed: it must be a whole number from 1 to 64.',
      '--executor-concurrency is "0", which is not allowed: it must be a whole number from 1 to 20000.',
      'PUNCTUAL_LOG_LEVEL is "loud", which is not allowed: it must be one of debug, info, warn, error, silent.',
    ])
  })

  it('never repeat a secret', () => {
    const secret = 'short secret'
    const mistakes = mistakesOf(() =>
      loadStandaloneSettings(
        {
          PUNCTUAL_TOKEN: secret,
          PUNCTUAL_SECRETS_KEY: secret,
          PUNCTUAL_REDIS_URL: `http://user:${secret}@redis:1`,
        },
        {},
      ),
    )
    expect(mistakes).toHaveLength(3)
    expect(mistakes.join()).not.toContain(secret)
  })

  it('tell what a Service named punctual does to PUNCTUAL_PORT', () => {
    expect(standaloneMistake('PUNCTUAL_PORT', 'tcp://10.0.0.1:80')[0]).toContain('enableServiceLinks: false')
  })

  it('shorten a long value', () => {
    expect(standaloneMistake('PUNCTUAL_PORT', '9'.repeat(5000))[0]?.length).toBeLessThan(250)
  })

  it('include equal ports, but not two free ones', () => {
    expect(mistakesOf(() => loadStandaloneSettings({ PUNCTUAL_OPS_PORT: '8080' }, {}))).toEqual([
      'PUNCTUAL_PORT and PUNCTUAL_OPS_PORT are both 8080: they must differ.',
    ])
    const free = { PUNCTUAL_PORT: '0', PUNCTUAL_OPS_PORT: '0' }
    expect(loadStandaloneSettings(free, {})).toMatchObject({ port: 0, opsPort: 0 })
  })
})

describe.each([
  ['PUNCTUAL_PORT', ['-1', '1.5', '1e3', '0x10', '080', '65536', 'abc', '+1']],
  [
    'PUNCTUAL_HOST',
    ['not a host', '1.2.3', 'a'.repeat(300), '300.1.1.1', '.example.com', '*.example.com', '**'],
  ],
  ['PUNCTUAL_TOKEN', ['x'.repeat(15), 'x'.repeat(257), 'sixteen with space', 'unicode-é-1234567']],
  ['PUNCTUAL_REDIS_URL', ['localhost', 'http://a', 'redis://', 'relative/redis.sock']],
  ['PUNCTUAL_REDIS_MAXMEMORY', ['1', '15MiB', '1.5g', '1x', 'g', '5TiB', '-1g']],
  ['PUNCTUAL_ALLOW_UNSAFE_REDIS', ['yes', 'TRUE', '2']],
  ['PUNCTUAL_SHARDS', ['0', '65']],
  ['PUNCTUAL_EXECUTOR_CONCURRENCY', ['0', '20001']],
  ['PUNCTUAL_CONCURRENCY_RESERVE', ['-1', '20001', '0.5']],
  ['PUNCTUAL_TEAM_SHARE', ['0.49', '0.991', '1', '90', '.9', '0.9x']],
  ['PUNCTUAL_QUEUE_SHARE', ['0.4', '1.0', '80%']],
  ['PUNCTUAL_CALL_BYTES', ['15MiB', '2TiB', '0', 'much']],
  ['PUNCTUAL_SECRETS_KEY', [Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), '!!']],
  ['PUNCTUAL_OTHER_SECRETS_KEYS', ['!!', `${KEY},short`, Array(5).fill(KEY).join()]],
  [
    'PUNCTUAL_EGRESS_ALLOW',
    ['10.0.0.0/33', '::1/129', '300.1.1.1', '10.0.0.0/', 'a b', 'http://x', 'fe80::1%eth0'],
  ],
  ['PUNCTUAL_EGRESS_DENY', ['10.0.0.0/8;127.0.0.1', '*.example.com', '127.1', '10.0.0.1/8']],
  ['PUNCTUAL_LOG_FORMAT', ['pretty']],
])('%s', (variable, texts) => {
  it.each(texts)('refuses %j', (text) => {
    expect(standaloneMistake(variable, text)).toHaveLength(1)
  })
})

describe('values', () => {
  it.each([
    ['1073741824', 1024 ** 3],
    ['512MiB', 512 * 1024 ** 2],
    ['512mb', 512 * 1024 ** 2],
    ['1g', 1024 ** 3],
    ['65536K', 64 * 1024 ** 2],
  ])('reads %s as bytes', (text, bytes) => {
    expect(loadStandaloneSettings({ PUNCTUAL_REDIS_MAXMEMORY: text }, {}).redisMaxmemoryBytes).toBe(bytes)
  })

  it('reads a list of egress entries', () => {
    const text = '127.0.0.0/8, ::1,.svc.cluster.local, localhost,10.1.2.3,'
    expect(loadStandaloneSettings({ PUNCTUAL_EGRESS_ALLOW: text }, {}).egressAllow).toEqual([
      '127.0.0.0/8',
      '::1',
      '.svc.cluster.local',
      'localhost',
      '10.1.2.3',
    ])
  })

  it.each(['redis://redis:6379/0', 'rediss://u:p@redis', '/run/redis.sock'])('takes %s as a Redis', (url) => {
    const env = { PUNCTUAL_REDIS_URL: url, PUNCTUAL_SECRETS_KEY: KEY }
    expect(loadApiSettings(env, {}).redisUrl).toBe(url)
  })

  describe('the password of Redis', () => {
    const env = { PUNCTUAL_REDIS_URL: 'redis://redis:6379/0', PUNCTUAL_SECRETS_KEY: KEY }
    const loadWith = (given: Record<string, string>) => loadApiSettings({ ...env, ...given }, {})

    it.each(['a/b#c?d%41 é', ' p@ss:word\n', '%', "'[]^|;=&+$"])('%j comes as it is', (password) => {
      const { redisUrl } = loadWith({ PUNCTUAL_REDIS_PASSWORD: password })
      const url = new URL(redisUrl)
      expect(decodeURIComponent(url.password)).toBe(password)
      expect([url.host, url.pathname, url.search, url.hash]).toEqual(['redis:6379', '/0', '', ''])
    })

    it('joins a user and stands nowhere else', () => {
      const given = { PUNCTUAL_REDIS_URL: 'rediss://ada@redis', PUNCTUAL_REDIS_PASSWORD: 'open sesame' }
      const settings = loadWith(given)
      expect(settings.redisUrl).toBe('rediss://ada:open%20sesame@redis')
      expect(settings).not.toHaveProperty('redisPassword')
      expect(JSON.stringify(describeSettings(settings))).not.toContain('sesame')
    })

    it.each([
      [
        'redis://:one@redis',
        'PUNCTUAL_REDIS_URL has a password and PUNCTUAL_REDIS_PASSWORD is set as well: give one of them.',
      ],
      [
        '/run/redis.sock',
        'PUNCTUAL_REDIS_URL is a unix socket, for which PUNCTUAL_REDIS_PASSWORD cannot be used.',
      ],
      ['', 'PUNCTUAL_REDIS_URL is not set, and PUNCTUAL_REDIS_PASSWORD needs it: set both.'],
    ])('is refused beside %j', (url, message) => {
      const given = { ...env, PUNCTUAL_REDIS_URL: url, PUNCTUAL_REDIS_PASSWORD: 'two' }
      for (const load of [loadApiSettings, loadStandaloneSettings]) {
        expect(mistakesOf(() => load(given, {}))).toEqual([message])
      }
    })

    it('adds nothing to a URL that is wrong already', () => {
      const given = { PUNCTUAL_REDIS_URL: 'http://redis', PUNCTUAL_REDIS_PASSWORD: 'two' }
      expect(mistakesOf(() => loadWith(given))).toHaveLength(1)
    })
  })

  it('makes a key of 32 bytes that printing does not show', () => {
    const settings = loadStandaloneSettings({ PUNCTUAL_SECRETS_KEY: KEY }, {})
    expect(settings.secretsKey?.export()).toEqual(Buffer.alloc(32, 7))
    expect(inspect(settings) + JSON.stringify(settings)).not.toContain(KEY)
  })

  it('takes an IPv6 address with brackets or without', () => {
    expect(loadStandaloneSettings({ PUNCTUAL_HOST: '[::1]' }, {}).host).toBe('::1')
    expect(loadStandaloneSettings({ PUNCTUAL_HOST: '::1' }, {}).host).toBe('::1')
  })

  it('takes * as all addresses', () => {
    expect(loadStandaloneSettings({ PUNCTUAL_HOST: '*' }, {}).host).toBe('*')
  })

  it('takes a switch as a flag or as a variable', () => {
    expect(loadStandaloneSettings({}, { allowUnsafeRedis: true }).allowUnsafeRedis).toBe(true)
    expect(loadStandaloneSettings({ PUNCTUAL_ALLOW_UNSAFE_REDIS: '1' }, {}).allowUnsafeRedis).toBe(true)
  })
})

describe('api and executor', () => {
  const noRedis = 'PUNCTUAL_REDIS_URL is not set: this role needs a Redis, such as redis://127.0.0.1:6379.'

  it('an executor needs a Redis and a key, and says both at once', () => {
    expect(mistakesOf(() => loadExecutorSettings({}, {}))).toEqual([
      noRedis,
      'PUNCTUAL_SECRETS_KEY is not set: every role of an installation but the API of a cluster needs the same one, such as from "openssl rand -base64 32".',
    ])
    // A value that is there and wrong is not called missing as well.
    const wrong = { PUNCTUAL_REDIS_URL: 'http://x', PUNCTUAL_SECRETS_KEY: 'short' }
    expect(mistakesOf(() => loadExecutorSettings(wrong, {}))).toHaveLength(2)
  })

  it('an API needs a Redis, and takes no key even where one is given', () => {
    expect(mistakesOf(() => loadApiSettings({}, {}))).toEqual([noRedis])
    expect(mistakesOf(() => loadApiSettings({ PUNCTUAL_REDIS_URL: 'http://x' }, {}))).toHaveLength(1)
    const env = {
      PUNCTUAL_REDIS_URL: 'redis://r',
      PUNCTUAL_SECRETS_KEY: KEY,
      PUNCTUAL_OTHER_SECRETS_KEYS: KEY,
    }
    expect(loadApiSettings(env, {})).toMatchObject({ secretsKey: null, otherSecretsKeys: [] })
  })

  it('do not look at variables that are not theirs', () => {
    const env = { PUNCTUAL_REDIS_URL: 'redis://r', PUNCTUAL_SECRETS_KEY: KEY, PUNCTUAL_PORT: 'wrong' }
    expect(loadExecutorSettings(env, {})).toMatchObject({ redisUrl: 'redis://r', opsPort: 9090 })
    expect(loadExecutorSettings(env, {})).not.toHaveProperty('port')
  })
})

describe('the controller', () => {
  const env = { PUNCTUAL_REDIS_URL: 'redis://r', PUNCTUAL_SECRETS_KEY: KEY, PUNCTUAL_POD_NAMESPACE: 'tools' }
  const mistake = (given: Record<string, string>) =>
    mistakesOf(() => loadControllerSettings({ ...env, ...given }, {}))

  it('has the defaults of the reference', () => {
    expect(loadControllerSettings(env, {})).toMatchObject({
      podName: hostname(),
      podNamespace: 'tools',
      watchNamespaces: null,
      instanceName: 'punctual',
      executorDeployment: 'punctual-executor',
      scalingMode: 'builtin',
      scalingMin: 0,
      scalingMax: 10,
      scalingCallsPerPod: 200,
      scalingDownSeconds: 120,
    })
  })

  it('needs its namespace, and says so beside the other mistakes', () => {
    expect(mistakesOf(() => loadControllerSettings({}, {}))).toHaveLength(3)
    expect(mistake({ PUNCTUAL_POD_NAMESPACE: '' })).toEqual([
      'PUNCTUAL_POD_NAMESPACE is not set: the controller keeps its lease in its own namespace.',
    ])
    expect(mistake({ PUNCTUAL_POD_NAMESPACE: 'Tools' })).toHaveLength(1)
  })

  it('reads a list of namespaces', () => {
    const list = { ...env, PUNCTUAL_WATCH_NAMESPACES: 'shop, mail,shop' }
    expect(loadControllerSettings(list, {}).watchNamespaces).toEqual(['shop', 'mail'])
  })

  it.each([
    'punctual=yes',
    'punctual',
    '!legacy',
    'example.com/team=',
    'a==b',
    'a!=b',
    'env in (prod, test),!legacy',
    'env notin (prod)',
    'a in (,b)',
  ])('reads the selector %s', (text) => {
    const given = { ...env, PUNCTUAL_NAMESPACE_SELECTOR: text }
    expect(loadControllerSettings(given, {}).namespaceSelector).toBe(text)
  })

  it('takes a list of namespaces or a selector, not both', () => {
    const both = { PUNCTUAL_WATCH_NAMESPACES: 'shop', PUNCTUAL_NAMESPACE_SELECTOR: 'a=b' }
    expect(mistake(both)).toEqual([
      'PUNCTUAL_WATCH_NAMESPACES and PUNCTUAL_NAMESPACE_SELECTOR are both set: give one of them.',
    ])
    expect(mistakesOf(() => loadApiSettings({ ...env, ...both }, {}))).toHaveLength(1)
    expect(mistakesOf(() => loadUninstallSettings({ ...env, ...both }, {}))).toHaveLength(1)
  })

  it('needs its namespace in an API with a selector as well', () => {
    const api = { PUNCTUAL_REDIS_URL: 'redis://r', PUNCTUAL_NAMESPACE_SELECTOR: 'a=b' }
    expect(mistakesOf(() => loadApiSettings(api, {}))).toEqual([
      'PUNCTUAL_POD_NAMESPACE is not set: with PUNCTUAL_NAMESPACE_SELECTOR the own namespace is watched, whatever its labels.',
    ])
  })

  it.each(['builtin', 'external', 'fixed'])('scales in mode %s', (mode) => {
    expect(loadControllerSettings({ ...env, PUNCTUAL_SCALING_MODE: mode }, {}).scalingMode).toBe(mode)
  })

  it('refuses a minimum above the maximum', () => {
    expect(mistake({ PUNCTUAL_SCALING_MIN: '3', PUNCTUAL_SCALING_MAX: '2' })).toEqual([
      'PUNCTUAL_SCALING_MIN is 3 and PUNCTUAL_SCALING_MAX is 2: the minimum must not be above the maximum.',
    ])
  })

  it.each([
    ['PUNCTUAL_WATCH_NAMESPACES', ','],
    ['PUNCTUAL_WATCH_NAMESPACES', 'a.b'],
    ['PUNCTUAL_WATCH_NAMESPACES', Array.from({ length: 51 }, (_, index) => `n${index}`).join()],
    ['PUNCTUAL_NAMESPACE_SELECTOR', 'a=b,'],
    ['PUNCTUAL_NAMESPACE_SELECTOR', 'a=b c=d'],
    ['PUNCTUAL_NAMESPACE_SELECTOR', '-a=b'],
    ['PUNCTUAL_NAMESPACE_SELECTOR', 'a in b'],
    ['PUNCTUAL_NAMESPACE_SELECTOR', 'a in (b'],
    ['PUNCTUAL_NAMESPACE_SELECTOR', 'a=/b'],
    ['PUNCTUAL_NAMESPACE_SELECTOR', 'x'.repeat(64)],
    ['PUNCTUAL_NAMESPACE_SELECTOR', Array.from({ length: 400 }, () => 'a=b').join()],
    ['PUNCTUAL_INSTANCE_NAME', 'Punctual'],
    ['PUNCTUAL_EXECUTOR_DEPLOYMENT', 'Executor'],
    ['PUNCTUAL_POD_NAME', 'a_b'],
    ['PUNCTUAL_SCALING_MODE', 'auto'],
    ['PUNCTUAL_SCALING_MAX', '0'],
    ['PUNCTUAL_SCALING_CALLS_PER_POD', '0'],
    ['PUNCTUAL_SCALING_DOWN_SECONDS', '-1'],
  ])('refuses %s=%s', (variable, text) => {
    expect(mistake({ [variable]: text })).toHaveLength(1)
  })
})

describe('for the log', () => {
  it('secrets are only said to be set', () => {
    const settings = loadStandaloneSettings({ PUNCTUAL_TOKEN: 'x'.repeat(16), PUNCTUAL_SECRETS_KEY: KEY }, {})
    expect(describeSettings(settings)).toMatchObject({
      token: 'set',
      secretsKey: 'set',
      otherSecretsKeys: [],
      redisUrl: null,
      port: 8080,
    })
  })

  it('further keys are only said to be set', () => {
    const settings = loadStandaloneSettings({ PUNCTUAL_OTHER_SECRETS_KEYS: `${KEY}, ${KEY}` }, {})
    expect(settings.otherSecretsKeys).toHaveLength(2)
    expect(describeSettings(settings)).toMatchObject({ secretsKey: null, otherSecretsKeys: 'set' })
  })

  it('a misspelt variable is found, one of a Service is not', () => {
    const env = {
      PUNCTUAL_EGRESS_DENNY: 'x',
      PUNCTUAL_PORT: '1',
      PUNCTUAL_URL: 'x',
      PUNCTUAL_SERVICE_HOST: 'x',
      PUNCTUAL_PORT_8080_TCP_ADDR: 'x',
      PUNCTUAL_API_PORT: 'tcp://x',
      PATH: 'x',
    }
    expect(unknownVariables(env, ['PUNCTUAL_URL'])).toEqual(['PUNCTUAL_EGRESS_DENNY'])
  })
})

describe('Redis by sentinels, and with a certificate', () => {
  const url = { PUNCTUAL_REDIS_URL: 'rediss://mymaster' }

  it('takes places with and without a port', () => {
    const env = { ...url, PUNCTUAL_REDIS_SENTINELS: 'a, b.test:1, [::1]:2' }
    expect(loadApiSettings(env, {}).redisSentinels).toEqual([
      { host: 'a', port: 26_379 },
      { host: 'b.test', port: 1 },
      { host: '::1', port: 2 },
    ])
  })

  it.each([
    [{ ...url, PUNCTUAL_REDIS_SENTINELS: 'a:0' }, 'PUNCTUAL_REDIS_SENTINELS is "a:0", which'],
    [{ ...url, PUNCTUAL_REDIS_SENTINELS: 'redis://a' }, 'PUNCTUAL_REDIS_SENTINELS is "redis://a", which'],
    [
      { PUNCTUAL_REDIS_URL: '/run/redis.sock', PUNCTUAL_REDIS_SENTINELS: 'a' },
      'PUNCTUAL_REDIS_SENTINELS needs a PUNCTUAL_REDIS_URL whose host is the name of the primary',
    ],
    [{ ...url, PUNCTUAL_REDIS_SENTINEL_PASSWORD: 'x' }, 'PUNCTUAL_REDIS_SENTINELS is not set, and'],
    [{ ...url, PUNCTUAL_REDIS_CERT: '/a' }, 'PUNCTUAL_REDIS_CERT and PUNCTUAL_REDIS_KEY are a certificate'],
    [
      { PUNCTUAL_REDIS_URL: 'redis://a', PUNCTUAL_REDIS_CERT: '/a', PUNCTUAL_REDIS_KEY: '/b' },
      'PUNCTUAL_REDIS_CERT is for a rediss:// URL',
    ],
  ])('refuses %j', (env, mistake) => {
    expect(mistakesOf(() => loadApiSettings(env, {}))).toEqual([expect.stringContaining(mistake)])
  })
})

describe('the certificate of the API', () => {
  const url = { PUNCTUAL_REDIS_URL: 'redis://a' }

  it('is refused without its key, and the other way round', () => {
    expect(mistakesOf(() => loadApiSettings({ ...url, PUNCTUAL_TLS_CERT: '/a' }, {}))).toEqual([
      'PUNCTUAL_TLS_KEY is not set, and PUNCTUAL_TLS_CERT is of no use without.',
    ])
    expect(mistakesOf(() => loadApiSettings({ ...url, PUNCTUAL_TLS_KEY: '/a' }, {}))).toEqual([
      'PUNCTUAL_TLS_CERT is not set, and PUNCTUAL_TLS_KEY is of no use without.',
    ])
  })
})
