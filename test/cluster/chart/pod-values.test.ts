import { describe, expect, test } from 'vitest'
import { renderAnew, renderChart } from '../../support/cluster/chart.ts'
import { createChartWorld } from '../../support/cluster/chart-world.ts'
import type { AnyObject } from '../../support/cluster/kubernetes-api.ts'

const { api, rendered } = createChartWorld()

const ROLES = ['controller', 'api', 'executor'] as const
const OF_REDIS = {
  serviceAccount: { create: true, name: 'mine', annotations: { 'eks.amazonaws.com/role-arn': 'arn:1' } },
  podLabels: { tier: 'jobs' },
  podAnnotations: { note: 'pod' },
  podSecurityContext: { runAsUser: 1234, supplementalGroups: [7] },
  containerSecurityContext: { privileged: false },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ operator: 'Exists' }],
  priorityClassName: 'system-cluster-critical',
}
/** Every value of a role's pods, each with something that the API server takes. */
const OF_ROLES = {
  ...OF_REDIS,
  extraArgs: ['--log-format=text'],
  extraEnv: [
    { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/authorities/ca.crt' },
    { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ],
  extraVolumes: [{ name: 'authorities', configMap: { name: 'company-ca' } }],
  extraVolumeMounts: [{ name: 'authorities', mountPath: '/etc/authorities', readOnly: true }],
  deploymentAnnotations: { 'reloader.stakater.com/auto': 'true' },
  revisionHistoryLimit: 2,
  strategy: { type: 'Recreate' },
  startupProbe: { failureThreshold: 7 },
  livenessProbe: { initialDelaySeconds: 9, timeoutSeconds: null },
  readinessProbe: { periodSeconds: 11 },
  podDisruptionBudget: { minAvailable: '50%' },
  topologySpreadConstraints: [
    { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
  ],
  runtimeClassName: 'gvisor',
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['192.0.2.53'] },
  hostAliases: [{ ip: '192.0.2.7', hostnames: ['partner.example'] }],
}
const ofRole = (role: string) => ({
  ...OF_ROLES,
  serviceAccount: { ...OF_ROLES.serviceAccount, name: `mine-${role}` },
})
const ALL = {
  commonLabels: { 'example.com/team': 'platform' },
  hostUsers: false,
  imageRegistry: 'mirror.example/inside/',
  controller: ofRole('controller'),
  api: ofRole('api'),
  executor: ofRole('executor'),
  redis: { bundled: OF_REDIS },
}

interface PodTemplate {
  readonly metadata: { readonly labels: object; readonly annotations?: object }
  readonly spec: Readonly<Record<string, unknown>> & { readonly containers: readonly Container[] }
}
type Container = Readonly<Record<string, unknown>> & {
  readonly image: string
  readonly env: readonly { name: string }[]
}

function specOf(objects: readonly AnyObject[], role: string) {
  const found = objects.find(
    ({ kind, metadata }) => /^(?:Deployment|StatefulSet)$/.test(kind) && metadata.name === `punctual-${role}`,
  )
  return { whole: found, ...(found?.spec as { template: PodTemplate }) }
}

describe('every value of a pod', () => {
  test.each(ROLES)('reaches that of the %s', async (role) => {
    const objects = await rendered(ALL)
    const { whole, template, ...spec } = specOf(objects, role)
    expect(spec).toMatchObject({ revisionHistoryLimit: 2, strategy: { type: 'Recreate' } })
    expect(whole?.metadata).toMatchObject({ annotations: OF_ROLES.deploymentAnnotations })
    expect(template.metadata).toMatchObject({
      labels: { ...ALL.commonLabels, ...OF_ROLES.podLabels, 'app.kubernetes.io/component': role },
      annotations: OF_ROLES.podAnnotations,
    })
    const { nodeSelector, tolerations, priorityClassName, topologySpreadConstraints } = OF_ROLES
    const { runtimeClassName, dnsPolicy, dnsConfig, hostAliases } = OF_ROLES
    expect(template.spec).toMatchObject({
      nodeSelector,
      tolerations,
      priorityClassName,
      topologySpreadConstraints,
      runtimeClassName,
      dnsPolicy,
      dnsConfig,
      hostAliases,
      hostUsers: false,
      securityContext: { runAsUser: 1234, supplementalGroups: [7], runAsNonRoot: true, fsGroup: 65532 },
      serviceAccountName: `mine-${role}`,
      volumes: OF_ROLES.extraVolumes,
    })
    const [container] = template.spec.containers
    expect(container).toMatchObject({
      image: expect.stringMatching(/^mirror\.example\/inside\/punctual:/),
      args: [role, '--log-format=text'],
      volumeMounts: OF_ROLES.extraVolumeMounts,
      startupProbe: { httpGet: { path: '/healthz' }, periodSeconds: 2, failureThreshold: 7 },
      livenessProbe: { httpGet: { path: '/healthz' }, periodSeconds: 10, initialDelaySeconds: 9 },
      readinessProbe: { periodSeconds: 11 },
      securityContext: { privileged: false, readOnlyRootFilesystem: true },
    })
    expect(container?.['livenessProbe']).not.toHaveProperty('timeoutSeconds')
    expect(container?.env.slice(-2)).toEqual(OF_ROLES.extraEnv)
    const budget = objects.find(
      ({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === `punctual-${role}`,
    )
    expect(budget?.spec).toMatchObject({ minAvailable: '50%' })
    expect(budget?.spec).not.toHaveProperty('maxUnavailable')
  })

  test('reaches that of the bundled Redis, as far as it is for it', async () => {
    const { template } = specOf(await rendered(ALL), 'redis')
    expect(template).toMatchObject({
      metadata: { labels: { ...ALL.commonLabels, tier: 'jobs' }, annotations: { note: 'pod' } },
      spec: {
        serviceAccountName: 'mine',
        securityContext: { runAsUser: 1234, supplementalGroups: [7], fsGroup: 65532 },
        priorityClassName: 'system-cluster-critical',
        containers: [{ image: expect.stringMatching(/^mirror\.example\/inside\/redis[:@]/) }],
      },
    })
  })

  test('is taken by the API server, unknown fields refused', async () => {
    const objects = (await rendered(ALL)).filter(({ kind }) => kind !== 'Pod')
    expect(objects.length).toBeGreaterThan(20)
    for (const object of objects) await api.apply(JSON.stringify(object), { dryRun: true })
  })
})

test('a pod of a hook is placed as those of a role are, and has labels and annotations of its own', async () => {
  const own = { podLabels: { tier: 'hook' }, podAnnotations: { 'linkerd.io/inject': 'disabled' } }
  const objects = await rendered({ ...ALL, uninstallHook: own, tests: own })
  const job = objects.find(({ kind }) => kind === 'Job')
  const { nodeSelector, tolerations, priorityClassName, runtimeClassName } = OF_ROLES
  for (const pod of [job?.spec?.['template'], objects.find(({ kind }) => kind === 'Pod')]) {
    expect(pod).toMatchObject({
      metadata: { labels: own.podLabels, annotations: own.podAnnotations },
      spec: { nodeSelector, tolerations, priorityClassName, runtimeClassName },
    })
  }
})

test.each([
  [
    { api: { extraEnv: [{ name: 'PUNCTUAL_LOG_LEVEL', value: 'debug' }] } },
    /api\.extraEnv: the chart sets PUNCTUAL_LOG_LEVEL/,
  ],
  [
    {
      controller: { serviceAccount: { name: 'ours' } },
      executor: { serviceAccount: { name: 'ours' } },
    },
    /controller and executor are both to create ours/,
  ],
  [
    { api: { podDisruptionBudget: { maxUnavailable: null, minAvailable: null } } },
    /podDisruptionBudget: give minAvailable or maxUnavailable/,
  ],
])(
  'what the API server would refuse, or take in silence, is refused by name: %j',
  async (values, message) => {
    await expect(rendered(values)).rejects.toThrow(message)
  },
)

test('a registry of yours takes the place of one that an image names', async () => {
  const values = { imageRegistry: 'mirror.example:5000', image: { repository: 'ghcr.io/owner/punctual' } }
  const [container] = specOf(await rendered(values), 'api').template.spec.containers
  expect(container?.image).toMatch(/^mirror\.example:5000\/owner\/punctual:/)
})

test('labels of yours are on every object, and in no selector', async () => {
  const objects = await rendered(ALL)
  const without = objects.filter(
    ({ metadata }) => !JSON.stringify(metadata.labels ?? {}).includes('"example.com/team":"platform"'),
  )
  expect(without).toEqual([])
  const selectors = objects.map(({ spec }) => JSON.stringify([spec?.['selector'], spec?.['podSelector']]))
  expect(selectors.filter((one) => one.includes('example.com/team'))).toEqual([])
})

test('the user of a pod can be left to the namespace, as OpenShift wants it', async () => {
  const objects = await rendered({
    podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null },
  })
  for (const role of [...ROLES, 'redis']) {
    const { securityContext } = specOf(objects, role).template.spec
    expect([role, securityContext]).toEqual([
      role,
      {
        runAsNonRoot: true,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
    ])
  }
})

test('a component can leave its user to the namespace where the others do not', async () => {
  const objects = await rendered({ api: { podSecurityContext: { runAsUser: null } } })
  expect(specOf(objects, 'api').template.spec['securityContext']).not.toHaveProperty('runAsUser')
  expect(specOf(objects, 'executor').template.spec['securityContext']).toHaveProperty('runAsUser', 65532)
})

test('the token of an account is mounted where the role needs it, unless it is said', async () => {
  const mounted = (objects: readonly AnyObject[]) =>
    [...ROLES, 'redis'].map((role) => specOf(objects, role).template.spec['automountServiceAccountToken'])
  expect(mounted(await rendered({}))).toEqual([true, true, false, false])
  const never = { serviceAccount: { automount: false } }
  expect(mounted(await rendered({ controller: never, api: never }))).toEqual([false, false, false, false])
})

test('pods are spread by no constraint where the list is empty', async () => {
  const objects = await rendered({ api: { topologySpreadConstraints: [] } })
  expect(specOf(objects, 'api').template.spec).not.toHaveProperty('topologySpreadConstraints')
  expect(specOf(objects, 'executor').template.spec['topologySpreadConstraints']).toHaveLength(2)
})

test('ServiceAccounts of yours have the rights of the role, and the chart makes none beside', async () => {
  const yours = (name: string) => ({ serviceAccount: { create: false, name } })
  const values = { controller: yours('c'), api: yours('a'), executor: yours('e') }
  const objects = await rendered(values)
  const made = objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name)
  expect(made.toSorted()).toEqual(['punctual-redis', 'punctual-uninstall'])
  const subjects = objects.flatMap((one) =>
    'subjects' in one ? (one['subjects'] as { name: string }[]).map(({ name }) => name) : [],
  )
  expect(new Set(subjects)).toEqual(new Set(['c', 'a', 'punctual-uninstall']))
  expect(specOf(objects, 'executor').template.spec['serviceAccountName']).toBe('e')
  const tester = objects.find(({ kind }) => kind === 'Pod')
  expect(tester?.spec).toMatchObject({ serviceAccountName: 'e' })
})

test('further objects are rendered, as maps and as templates', async () => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'of-{{ .Release.Name }}' } }
  const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.logLevel }}-too'
  const objects = await rendered({ extraObjects: [map, text] })
  const names = objects.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name)
  expect(names).toEqual(['of-punctual', 'info-too'])
})

test.each([
  [{ commonLabels: { 'app.kubernetes.io/name': 'mine' } }, /\/commonLabels/],
  [{ api: { podLabels: { 'app.kubernetes.io/component': 'x' } } }, /\/api\/podLabels/],
  [{ api: { extraEnv: [{ nam: 'A' }] } }, /\/api\/extraEnv\/0/],
  [{ api: { extraArgs: ['executor'] } }, /\/api\/extraArgs\/0/],
  [{ executor: { livenessProbe: { period: 3 } } }, /additional properties 'period' not allowed/],
  [{ controller: { podDisruptionBudget: { maxUnavailable: 'half' } } }, /maxUnavailable/],
  [{ api: { serviceAccount: { create: false } } }, /api\.serviceAccount: give the name/],
  [{ redis: { bundled: { serviceAccount: { create: false } } } }, /redis\.bundled\.serviceAccount: give/],
])('the values %j are refused', async (values, message) => {
  await expect(renderChart({ values })).rejects.toThrow(message)
})

describe('a rendering', () => {
  test.each([
    {},
    ALL,
    { watchNamespaces: ['shop'] },
    { redis: { external: { url: 'redis://:pass@r.test' } } },
  ])('gives the same bytes each time, with %j', async (values) => {
    const [first, second] = await Promise.all([renderChart({ values }), renderAnew({ values })])
    expect(first).toBe(second)
  })

  test('has no right to create Secrets where all of them are yours', async () => {
    const yours = { existingSecret: 'mine' }
    const values = { token: yours, secretsKey: yours, redis: { bundled: yours } }
    const objects = await rendered(values)
    expect(JSON.stringify(objects)).not.toContain('prepare')
    const own = objects.find(({ kind, metadata }) => kind === 'Role' && metadata.name === 'punctual-own')
    expect(JSON.stringify(own)).not.toContain('secrets')
  })
})
