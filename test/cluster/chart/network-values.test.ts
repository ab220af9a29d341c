import { beforeEach, expect, test } from 'vitest'
import { helmObstacle, notesOf, renderChart } from '../../support/cluster/chart.ts'
import { documentsOf } from '../../support/cluster/kubernetes-api.ts'

beforeEach(({ skip }) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
})

interface Rule {
  readonly to?: readonly object[]
  readonly ports?: readonly { readonly port: number }[]
}

/** What each component may reach. */
async function egressWith(values: object): Promise<Readonly<Record<string, readonly Rule[]>>> {
  const policies = documentsOf(await renderChart({ values })).filter(({ kind }) => kind === 'NetworkPolicy')
  return Object.fromEntries(
    policies.map(({ metadata, spec }) => [
      metadata.name.replace('punctual-', ''),
      (spec?.['egress'] as Rule[] | undefined) ?? [],
    ]),
  )
}

test('names are resolved where you say, at the ports of the pods there', async () => {
  const to = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'openshift-dns' } } }]
  const egress = await egressWith({ networkPolicy: { dns: to, dnsPorts: [53, 5353] } })
  for (const component of ['controller', 'api', 'executor', 'uninstall']) {
    expect([component, egress[component]?.[0]]).toEqual([
      component,
      {
        to,
        ports: [53, 5353].flatMap((port) => [
          { protocol: 'UDP', port },
          { protocol: 'TCP', port },
        ]),
      },
    ])
  }
})

test('each role reaches what you add for it, and nothing of what you add for another', async () => {
  const toPort = (port: number) => ({ ports: [{ protocol: 'TCP', port }] })
  const egress = await egressWith({
    networkPolicy: {
      controllerEgress: [toPort(1111)],
      apiEgress: [toPort(2222)],
      executorEgress: [toPort(3333)],
    },
  })
  const added = (component: string) =>
    (egress[component] ?? [])
      .flatMap(({ ports = [] }) => ports.map(({ port }) => port))
      .filter((port) => port % 1111 === 0)
  expect({ controller: added('controller'), api: added('api'), executor: added('executor') }).toEqual({
    controller: [1111],
    api: [2222],
    executor: [3333],
  })
})

test('an installation is told that it has not named the blocks of the cluster', async () => {
  const warning = /^egress\.clusterCidrs is empty: /m
  expect(await notesOf()).toMatch(warning)
  expect(await notesOf({ values: { egress: { clusterCidrs: ['10.0.0.0/8'] } } })).not.toMatch(warning)
})

const EXTERNAL = { url: 'redis://redis.example' }
test.each([
  ['the bundled Redis', {}, false],
  ['a Redis of yours', { redis: { external: EXTERNAL } }, true],
  [
    'a Redis of yours in these blocks',
    { redis: { external: { ...EXTERNAL, cidrs: ['10.0.0.0/8'] } } },
    false,
  ],
  ['no network policies', { redis: { external: EXTERNAL }, networkPolicy: { enabled: false } }, false],
])('an open port of Redis is told at once, and to the doctor: %s', async (_what, values, isOpen) => {
  expect(/^redis\.external\.cidrs is empty: /m.test(await notesOf({ values }))).toBe(isOpen)
  const texts = (await renderChart({ values })).split(/^---$/m)
  const open = texts.filter((text) => text.includes('name: PUNCTUAL_REDIS_OPEN_PORT'))
  expect(open.map((text) => /^ {2}name: (\S+)$/m.exec(text)?.[1])).toEqual(
    isOpen ? ['punctual-controller'] : [],
  )
})

test.each([
  ['nobody is named', {}, /^networkPolicy\.apiFrom is empty: /m],
  ['there are no policies', { networkPolicy: { enabled: false } }, /^networkPolicy\.enabled is false: /m],
])('an installation is told that everybody reaches its API: %s', async (_what, values, warning) => {
  expect(await notesOf({ values })).toMatch(warning)
  const named = { networkPolicy: { apiFrom: [{ podSelector: { matchLabels: { app: 'shop' } } }] } }
  expect(await notesOf({ values: named })).not.toMatch(/^networkPolicy\.(?:apiFrom|enabled) is /m)
})
