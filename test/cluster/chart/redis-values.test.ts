import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { renderChart } from '../../support/cluster/chart.ts'
import { createChartWorld } from '../../support/cluster/chart-world.ts'
import { type AnyObject, documentsOf } from '../../support/cluster/kubernetes-api.ts'

const world = createChartWorld()
const { api } = world

const ROLES = ['controller', 'api', 'executor'] as const

function rendered(redis: object, metrics: object = {}): Promise<AnyObject[]> {
  return world.rendered({ redis, metrics })
}

function find(objects: readonly AnyObject[], kind: string, name: string): AnyObject {
  const found = objects.find((one) => one.kind === kind && one.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found
}

/** What the policy of each role lets it reach, beside names, the API server and targets. */
function redisRules(objects: readonly AnyObject[]): unknown[] {
  return ROLES.map((role) => {
    const { spec } = find(objects, 'NetworkPolicy', `punctual-${role}`)
    return (spec as { egress: unknown[] }).egress[1]
  })
}

const ports = (...numbers: number[]) => ({
  ports: numbers.map((port) => ({ protocol: 'TCP', port })),
})

describe('the network policies', () => {
  test.each([
    ['the port of the URL', { url: 'rediss://u:p%40@redis.example:6380/0' }, ports(6380)],
    ['6379 where the URL has none', { url: 'redis://redis.example' }, ports(6379)],
    ['6379 where a Secret has it', { existingSecret: 'a' }, ports(6379)],
    ['the port that is given for a Secret', { existingSecret: 'a', port: 6390 }, ports(6390)],
    [
      'the primary and the sentinels',
      { url: 'redis://mymaster', sentinels: ['a', 'b:26380', '[::1]:26380'], port: 6381 },
      ports(6381, 26379, 26380),
    ],
    [
      'these at the addresses that are given',
      { url: 'redis://[2001:db8::1]:7000', cidrs: ['2001:db8::/64'] },
      { ...ports(7000), to: [{ ipBlock: { cidr: '2001:db8::/64' } }] },
    ],
  ])('open %s', async (_what, external, rule) => {
    expect(redisRules(await rendered({ external }))).toEqual([rule, rule, rule])
  })

  test('and another port than that of the URL is refused', async () => {
    const external = { url: 'rediss://redis.example:6380', port: 6379 }
    await expect(rendered({ external })).rejects.toThrow(
      'redis.external.port: is 6379, and the URL says 6380',
    )
  })
})

describe('a Redis of yours', () => {
  interface Container {
    readonly env: readonly { readonly name: string }[]
    readonly volumeMounts?: readonly { readonly name: string }[]
  }

  function containerOf(objects: readonly AnyObject[], role: string): Container {
    const { spec } = find(objects, 'Deployment', `punctual-${role}`)
    const { template } = spec as { template: { spec: { containers: Container[] } } }
    const [container] = template.spec.containers
    if (container === undefined) throw new Error('a pod without a container')
    return container
  }
  const redisEnv = ({ env }: Container) => env.filter(({ name }) => name.startsWith('PUNCTUAL_REDIS'))
  const secret = (name: string, key: string) => ({ valueFrom: { secretKeyRef: { name, key } } })

  test('gets sentinels, their password, a certificate, and a user for each role', async () => {
    const objects = await rendered({
      external: {
        existingSecret: 'urls',
        roleKeys: { api: 'for-api' },
        sentinels: ['a:1', 'b'],
        sentinelSecret: 'sentinels',
        caSecret: 'authority',
        clientSecret: 'certificate',
        cidrs: ['10.20.0.0/24'],
      },
    })
    for (const role of ROLES) {
      const container = containerOf(objects, role)
      expect(redisEnv(container)).toEqual([
        { name: 'PUNCTUAL_REDIS_URL', ...secret('urls', role === 'api' ? 'for-api' : 'url') },
        { name: 'PUNCTUAL_REDIS_SENTINELS', value: 'a:1,b' },
        { name: 'PUNCTUAL_REDIS_SENTINEL_PASSWORD', ...secret('sentinels', 'password') },
        { name: 'PUNCTUAL_REDIS_CA', value: '/etc/punctual/redis-ca/ca.crt' },
        { name: 'PUNCTUAL_REDIS_CERT', value: '/etc/punctual/redis-client/tls.crt' },
        { name: 'PUNCTUAL_REDIS_KEY', value: '/etc/punctual/redis-client/tls.key' },
      ])
      expect(container.volumeMounts?.map(({ name }) => name)).toEqual(['redis-ca', 'redis-client'])
      const deployment = find(objects, 'Deployment', `punctual-${role}`)
      await api.apply(JSON.stringify(deployment), { dryRun: true })
    }
  })

  test.each([
    [{ url: 'redis://a', roleKeys: { api: 'x' } }, /roleKeys: these are keys of existingSecret/],
    [{ url: 'redis://a', sentinelSecret: 'x' }, /sentinelSecret: there are no sentinels/],
    [{ url: 'redis://a', sentinels: ['redis://a'] }, /\/redis\/external\/sentinels\/0/],
  ])('%j is refused', async (external, message) => {
    await expect(rendered({ external })).rejects.toThrow(message)
  })
})

interface Template {
  readonly spec: {
    readonly containers: ReadonlyArray<{
      readonly env: ReadonlyArray<{
        readonly name: string
        readonly value?: string
        readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly optional?: boolean } }
      }>
      readonly readinessProbe: { readonly exec?: { readonly command: readonly string[] } }
    }>
    readonly volumes?: readonly object[]
  }
}

const templateOf = (objects: readonly AnyObject[], kind: string, name: string) =>
  find(objects, kind, name).spec?.['template'] as Template

/** By what each role logs in: the user in its URL, and the Secret of its password. */
function loginsOf(objects: readonly AnyObject[]): unknown[] {
  return ROLES.map((role) => {
    const env = templateOf(objects, 'Deployment', `punctual-${role}`).spec.containers[0]?.env ?? []
    const named = (name: string) => env.find((one) => one.name === name)
    const { username } = new URL(named('PUNCTUAL_REDIS_URL')?.value ?? '')
    return [username, named('PUNCTUAL_REDIS_PASSWORD')?.valueFrom?.secretKeyRef]
  })
}

const OWN = ['', { name: 'punctual-redis', key: 'password' }]

describe('users of the bundled Redis', () => {
  test('are those of the API and the executors, and the password of the server goes to neither', async () => {
    const objects = await rendered({})
    expect(loginsOf(objects)).toEqual([
      OWN,
      ['punctual-api', { name: 'punctual-redis-api', key: 'password' }],
      ['punctual-executor', { name: 'punctual-redis-executor', key: 'password' }],
    ])
    for (const role of ['api', 'executor'])
      expect(JSON.stringify(find(objects, 'Deployment', `punctual-${role}`))).not.toContain(
        '"punctual-redis"',
      )
  })

  test('are made by the controller before the password that Redis waits for', async () => {
    const text = await renderChart()
    const made = [...text.matchAll(/name: (PUNCTUAL_MAKE_REDIS_\w+)\n +value: (.+)/g)]
    expect(made.map(([, name, secret]) => [name, secret])).toEqual([
      ['PUNCTUAL_MAKE_REDIS_API_PASSWORD', 'punctual-redis-api/password'],
      ['PUNCTUAL_MAKE_REDIS_EXECUTOR_PASSWORD', 'punctual-redis-executor/password'],
      ['PUNCTUAL_MAKE_REDIS_PASSWORD', 'punctual-redis/password'],
    ])
    expect(text).toContain(
      'resourceNames: [punctual-token, punctual-key, punctual-redis-api, punctual-redis-executor, punctual-redis]',
    )
  })

  test('do not keep Redis waiting: their Secrets are optional, and its own password is as before', async () => {
    const objects = await rendered({})
    await api.apply(JSON.stringify(find(objects, 'StatefulSet', 'punctual-redis')), { dryRun: true })
    const { containers, volumes } = templateOf(objects, 'StatefulSet', 'punctual-redis').spec
    const [redis] = containers
    expect(
      redis?.env.flatMap(({ name, valueFrom }) => (valueFrom ? [[name, valueFrom.secretKeyRef]] : [])),
    ).toEqual([
      ['REDIS_PASSWORD', { name: 'punctual-redis', key: 'password' }],
      ['API_PASSWORD', { name: 'punctual-redis-api', key: 'password', optional: true }],
      ['EXECUTOR_PASSWORD', { name: 'punctual-redis-executor', key: 'password', optional: true }],
    ])
    const file = (role: string) => ({
      secret: {
        name: `punctual-redis-${role}`,
        optional: true,
        items: [{ key: 'password', path: role }],
      },
    })
    expect(volumes).toEqual([{ name: 'users', projected: { sources: [file('api'), file('executor')] } }])
    const script = readFileSync(
      new URL('../../../charts/punctual/files/redis-users.sh', import.meta.url),
      'utf8',
    )
    expect(redis?.readinessProbe.exec?.command).toEqual(['sh', '-c', script.trim()])
  })

  test.each<[string, readonly string[]]>([
    ['the password is in a Secret of yours', ['redis.bundled.existingSecret=punctual-redis']],
    ['the chart makes no rights', ['rbac.create=false']],
    ['they are not wanted', ['redis.bundled.users.enabled=false']],
  ])('are not there where %s', async (_where, set) => {
    const text = await renderChart({ set })
    expect(text).not.toContain('redis-api')
    const objects = documentsOf(text)
    expect(loginsOf(objects)).toEqual([OWN, OWN, OWN])
    const { containers } = templateOf(objects, 'StatefulSet', 'punctual-redis').spec
    expect(containers[0]?.readinessProbe.exec?.command).toEqual(['redis-cli', '-e', 'ping'])
  })

  test('are there where they are asked for', async () => {
    const set = ['redis.bundled.existingSecret=mine', 'redis.bundled.users.enabled=true']
    const text = await renderChart({ set })
    expect(loginsOf(documentsOf(text))[1]).toEqual([
      'punctual-api',
      { name: 'punctual-redis-api', key: 'password' },
    ])
    expect(text).not.toContain('PUNCTUAL_MAKE_REDIS_PASSWORD')
  })
})

describe('the exporter', () => {
  test('stands beside the bundled Redis, and the monitors find it by its port', async () => {
    const objects = await rendered(
      { bundled: { exporter: { enabled: true } } },
      { podMonitor: { enabled: true } },
    )
    const redis = find(objects, 'StatefulSet', 'punctual-redis')
    await api.apply(JSON.stringify(redis), { dryRun: true })
    expect(redis.spec).toMatchObject({
      template: {
        spec: {
          containers: [
            { name: 'redis' },
            {
              name: 'exporter',
              ports: [{ name: 'ops', containerPort: 9121 }],
              env: [
                { name: 'REDIS_ADDR', value: 'redis://localhost:6379' },
                { name: 'REDIS_PASSWORD', valueFrom: { secretKeyRef: { name: 'punctual-redis' } } },
              ],
            },
          ],
        },
      },
    })
    const policy = find(objects, 'NetworkPolicy', 'punctual-redis')
    expect(policy.spec?.['ingress']).toContainEqual(ports(9121))
    expect(find(objects, 'PodMonitor', 'punctual').spec).toMatchObject({
      podMetricsEndpoints: [{ port: 'ops' }],
    })
  })

  test('is not there unless it is asked for', async () => {
    expect(await renderChart()).not.toMatch(/exporter|9121/)
  })
})
