/** What the chart gives to a Prometheus Operator, judged by the operator's own definitions on a real API server. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { helmObstacle, renderChart } from '../../support/cluster/chart.ts'
import {
  type AnyObject,
  applyDefinitions,
  documentsOf,
  newNamespace,
  openKubernetesApi,
} from '../../support/cluster/kubernetes-api.ts'
import { toolObstacle, toolPath } from '../../support/tools.ts'

const FIND = 'prometheus-operator.sh'
const KINDS = ['servicemonitors', 'podmonitors', 'prometheusrules']

const api = openKubernetesApi(inject('clusterAccess'))
const obstacle = helmObstacle() ?? toolObstacle(FIND)
let namespace: string

beforeAll(async () => {
  if (obstacle !== null) return
  namespace = await newNamespace(api)
  for (const kind of KINDS) {
    const path = join(toolPath(FIND), `monitoring.coreos.com_${kind}.yaml`)
    await applyDefinitions(api, readFileSync(path, 'utf8'))
  }
})
beforeEach(({ skip }) => skip(obstacle !== null, obstacle ?? ''))
afterAll(() => api.close())

async function applied(metrics: object): Promise<readonly string[]> {
  const objects = documentsOf(await renderChart({ values: { metrics }, namespace }))
  const own = objects.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com/'))
  for (const object of own) await api.apply(JSON.stringify(object))
  return own.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()
}

const EVERYTHING = {
  enabled: true,
  interval: '15s',
  scrapeTimeout: '10s',
  labels: { release: 'prometheus' },
  annotations: { team: 'platform' },
  relabelings: [{ sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'node' }],
  metricRelabelings: [{ sourceLabels: ['__name__'], regex: 'nodejs_.*', action: 'drop' }],
}
const RULE = {
  enabled: true,
  labels: { release: 'prometheus' },
  annotations: { team: 'platform' },
  runbookUrl: 'https://docs.test/runbooks',
  disabled: ['PunctualScalingLimited'],
  rules: [{ alert: 'Mine', expr: 'vector(1)', for: '5m', labels: { severity: 'info' } }],
}

test.each([
  ['by default', { enabled: true }, { enabled: true }],
  ['with all that may be set', EVERYTHING, RULE],
])('monitors and rules are taken %s, unknown fields refused', async (_, monitor, prometheusRule) => {
  expect(await applied({ serviceMonitor: monitor, prometheusRule })).toEqual([
    'PrometheusRule punctual',
    'ServiceMonitor punctual',
  ])
  expect(await applied({ podMonitor: monitor, prometheusRule })).toContain('PodMonitor punctual')
  const read = async (kind: string): Promise<AnyObject> =>
    api.get({ apiVersion: 'monitoring.coreos.com/v1', kind, name: 'punctual', namespace })
  expect((await read('PrometheusRule')).spec).toMatchObject({ groups: [{ name: 'punctual' }] })
  // Nothing is dropped on the way.
  const [kept, rendered] = await Promise.all([read('PodMonitor'), renderedSpec('PodMonitor', monitor)])
  expect(kept.spec).toMatchObject(rendered)
})

async function renderedSpec(kind: string, podMonitor: object): Promise<object> {
  const objects = documentsOf(await renderChart({ values: { metrics: { podMonitor } }, namespace }))
  return objects.find((object) => object.kind === kind)?.spec ?? {}
}

test.each([
  [{ serviceMonitor: { enabled: true, interval: 'soon' } }, /interval/],
  [{ podMonitor: { enabled: true, relabelings: [{ action: 'nothing' }] } }, /relabelings\[2\]\.action/],
  [
    { serviceMonitor: { enabled: true, relabelings: [{ target: 'a' }] } },
    /relabelings\[2\]\.target.*not declared/,
  ],
  [{ prometheusRule: { enabled: true, rules: [{ alert: 'Mine' }] } }, /expr/],
])('%j is refused', async (metrics, reason) => {
  await expect(applied(metrics)).rejects.toThrow(reason)
})
