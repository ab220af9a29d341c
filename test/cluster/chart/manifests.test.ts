import { isDeepStrictEqual } from 'node:util'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { stringify } from 'yaml'
import { plainManifests } from '../../../scripts/plain-manifests.ts'
import { helm, helmObstacle, renderAnew, renderChart } from '../../support/cluster/chart.ts'
import {
  type AnyObject,
  documentsOf,
  newNamespace,
  openKubernetesApi,
} from '../../support/cluster/kubernetes-api.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const api = openKubernetesApi(inject('clusterAccess'))
let namespace: string
let shop: string
let mail: string

beforeAll(async () => {
  namespace = await newNamespace(api)
  shop = await newNamespace(api)
  mail = await newNamespace(api)
  const restricted = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } }
  await api.send('PATCH', `/api/v1/namespaces/${namespace}`, restricted, 'application/merge-patch+json')
})
beforeEach(({ skip }) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
})
afterAll(() => api.close())

/** Values, by what they are for. */
const VARIANTS = {
  defaults: [],
  'an Ingress below a path': [
    'ingress.enabled=true',
    'ingress.className=nginx',
    'ingress.hosts={p.test,q.test}',
    'ingress.tls[0].secretName=p',
    'dashboard.basePath=/punctual',
  ],
  'a Redis of yours by URL': [
    'redis.external.url=rediss://user:pass@redis.example:6380',
    'redis.external.port=6380',
  ],
  'a Redis of yours by Secret, with its authority and place': [
    'redis.external.existingSecret=redis',
    'redis.external.caSecret=redis-ca',
    'redis.external.cidrs[0]=10.1.2.0/24',
  ],
  'some namespaces only': ['watchNamespaces[0]=SHOP', 'watchNamespaces[1]=MAIL'],
  'namespaces by label': ['namespaceSelector=env in (prod\\,test)'],
  'API by load': ['api.autoscaling.enabled=true', 'api.service.type=NodePort'],
  'users of some namespaces': [
    'watchNamespaces={SHOP}',
    'kubernetesUsers.tokens=any',
    'kubernetesUsers.audience=punctual',
    'api.appliedResources=read-only',
  ],
  'an autoscaler of yours': ['executor.scaling.mode=external'],
  'a fixed number of executors': ['executor.scaling.mode=fixed', 'executor.scaling.fixed=3'],
  'nothing beside the pods': [
    'networkPolicy.enabled=false',
    'podDisruptionBudgets.enabled=false',
    'rbac.create=false',
    'crds.enabled=false',
    'tests.enabled=false',
    'token.enabled=false',
    'redis.bundled.persistence.enabled=false',
  ],
  'other bounds of pods': [
    'api.maxConnections=1000000',
    'api.trustedProxies={10.244.0.0/16,2001:db8::/32}',
    'api.intakeBytes=1GiB',
    'executor.concurrencyReserve=0',
    'executor.teamShare=0.75',
    'executor.callBytes=512MiB',
  ],
  'a mail server': [
    'notifications.smtp.existingSecret=smtp',
    'notifications.smtp.from=Punctual <alerts@a.test>',
    'notifications.smtp.port=465',
    'notifications.smtp.cidrs={10.1.2.3/32}',
  ],
  'a tracing system': [
    'tracing.endpoint=https://otlp.example:4318/prefix',
    'tracing.samplerRatio=0.00001',
    'tracing.existingSecret=otlp',
    'tracing.cidrs={10.1.2.3/32}',
  ],
  'every place of a pod': [
    'imagePullSecrets[0].name=pull',
    `image.digest=sha256:${'0'.repeat(64)}`,
    ...['controller', 'api', 'executor', 'redis.bundled'].flatMap((component) => [
      `${component}.priorityClassName=high`,
      `${component}.nodeSelector.disk=ssd`,
      `${component}.tolerations[0].operator=Exists`,
      `${component}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution=null`,
      `${component}.podAnnotations.team=platform`,
    ]),
  ],
  'walls of your own': [
    'egress.allow={10.0.0.0/8,internal.example}',
    'egress.allowable=any',
    'egress.clusterCidrs={10.96.0.0/12,2001:db8::/32}',
    'networkPolicy.apiFrom[0].podSelector.matchLabels.app=shop',
    'networkPolicy.opsFrom[0].podSelector.matchLabels.app=prometheus',
    'networkPolicy.blockedCidrs={203.0.113.7/32}',
    'networkPolicy.executorEgress[0].to[0].podSelector.matchLabels.app=target',
  ],
} as const

type Variant = keyof typeof VARIANTS
const variants = Object.keys(VARIANTS) as Variant[]

async function render(variant: Variant): Promise<string> {
  const set = VARIANTS[variant].map((one) => one.replace('SHOP', shop).replace('MAIL', mail))
  return renderChart({ set, namespace })
}

/** The pods that the manifests lead to, as far as admission looks at them: on their own, with no account and no claim. */
function podsOf(manifests: string): AnyObject[] {
  return documentsOf(manifests).flatMap(({ kind, metadata, spec }) => {
    const template = kind === 'Pod' ? { spec } : (spec?.['template'] as { spec: object } | undefined)
    if (template === undefined) return []
    const claims = (spec?.['volumeClaimTemplates'] ?? []) as { metadata: { name: string } }[]
    const { volumes: given = [] } = (template.spec ?? {}) as { volumes?: readonly object[] }
    const volumes = [...claims.map((claim) => ({ name: claim.metadata.name, emptyDir: {} })), ...given]
    const alone = {
      restartPolicy: 'Never',
      serviceAccountName: 'default',
      priorityClassName: '',
      ...(claims.length > 0 && { volumes }),
    }
    const pod = { metadata: { name: metadata.name }, spec: { ...template.spec, ...alone } }
    return [{ apiVersion: 'v1', kind: 'Pod', ...pod }]
  })
}

const taken = new Set<string>()

/** Most objects are the same in all variants: each is asked about once. */
async function take(object: string): Promise<void> {
  if (taken.has(object)) return
  await api.apply(object, { dryRun: true })
  taken.add(object)
}

describe.each(variants)('rendered with %s', (variant) => {
  test('the API server takes every object, unknown fields refused', async () => {
    const objects = documentsOf(await render(variant)).filter(({ kind }) => kind !== 'Pod')
    expect(objects.length).toBeGreaterThan(5)
    for (const object of objects) await take(JSON.stringify(object))
  })

  test('every pod is let in where pod security is restricted', async () => {
    const pods = podsOf(await render(variant))
    expect(pods.length).toBeGreaterThanOrEqual(3)
    const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All&fieldValidation=Strict`
    for (const pod of pods) await api.send('POST', path, pod)
  })
})

test('a pod with more than that is not', async () => {
  const [pod] = podsOf(await render('defaults'))
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`
  await expect(api.send('POST', path, { ...pod, spec: { ...pod?.spec, hostNetwork: true } })).rejects.toThrow(
    /violates PodSecurity "restricted:latest"/,
  )
})

describe('rights', () => {
  const kinds = ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding']
  const rightsIn = (manifests: string) =>
    documentsOf(manifests)
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ kind, metadata, rules, roleRef, subjects }) => ({
        kind,
        name: metadata.name,
        namespace: metadata.namespace,
        ...(rules === undefined ? { roleRef, subjects } : { rules }),
      }))

  test('of all namespaces are those that were agreed', async () => {
    const rights = rightsIn(await renderChart())
    await expect(stringify(rights, { singleQuote: true })).toMatchFileSnapshot(
      'golden/rights-of-all-namespaces.yaml',
    )
  })

  test('of some namespaces are Roles alone, those that were agreed', async () => {
    const rights = rightsIn(await renderChart({ set: ['watchNamespaces={shop,mail}'] }))
    expect(rights.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([])
    await expect(stringify(rights, { singleQuote: true })).toMatchFileSnapshot(
      'golden/rights-of-some-namespaces.yaml',
    )
  })

  test('of namespaces by label are those of all, and to see the labels', async () => {
    const rulesOf = async (...set: readonly string[]) =>
      Object.fromEntries(
        rightsIn(await renderChart({ set })).flatMap((right) =>
          'rules' in right ? [[`${right.kind} ${right.name}`, right.rules as object[]] as const] : [],
        ),
      )
    const [plain, selected] = [await rulesOf(), await rulesOf('namespaceSelector=punctual=yes')]
    const changed = Object.keys(selected).filter((of) => !isDeepStrictEqual(selected[of], plain[of]))
    const added = changed.map((of) => [
      of,
      selected[of]?.filter((rule) => plain[of]?.some((one) => isDeepStrictEqual(one, rule)) === false),
    ])
    const rule = (...verbs: readonly string[]) => ({ apiGroups: [''], resources: ['namespaces'], verbs })
    expect(Object.fromEntries(added)).toEqual({
      'ClusterRole punctual-punctual-api': [rule('list', 'watch')],
      'ClusterRole punctual-punctual-controller': [rule('list', 'watch')],
      'ClusterRole punctual-punctual-uninstall': [rule('list')],
    })
  })

  test("over Secrets are the API's to make and delete those of its crons, and more where it may make signing secrets", async () => {
    const rulesWith = async (...set: readonly string[]) =>
      JSON.stringify(rightsIn(await renderChart({ set })).find(({ name }) => name.endsWith('-api')))
    const made = '{"apiGroups":[""],"resources":["secrets"],"verbs":["create","delete"]}'
    expect(await rulesWith()).toContain(made)
    expect(await rulesWith('api.cronSecrets.enabled=false')).not.toContain('secrets')
    const rules = await rulesWith('api.signingSecrets.enabled=true')
    expect(rules).toContain('{"apiGroups":[""],"resources":["secrets"],"verbs":["get","create","delete"]}')
    expect(rules).toContain('"resources":["teamsettings"],"verbs":["get","create","patch"]')
  })

  test('to ask about users are bound where users are taken, unless another does it', async () => {
    const bindings = async (...set: readonly string[]) =>
      rightsIn(await renderChart({ set })).filter(
        ({ kind, name }) => kind.endsWith('Binding') && /reviews/.test(name),
      )
    const delegator = { kind: 'ClusterRole', name: 'system:auth-delegator' }
    expect(await bindings()).toMatchObject([{ roleRef: delegator, subjects: [{ name: 'punctual-api' }] }])
    expect(await bindings('watchNamespaces={shop}', 'kubernetesUsers.tokens=jwt')).toHaveLength(1)
    expect(await bindings('kubernetesUsers.tokens=off')).toEqual([])
    expect(await bindings('kubernetesUsers.bind=false')).toEqual([])
  })

  test('to ask about users are there, too, where they log in at a provider and RBAC says what they may', async () => {
    const oidc = ['publicUrl=https://p.test', 'oidc.issuer=https://id.test', 'oidc.clientId=p']
    const rightsWith = async (...set: readonly string[]) => {
      const given = ['kubernetesUsers.tokens=off', ...oidc, 'oidc.existingSecret=oidc', ...set]
      const rights = rightsIn(await renderChart({ set: given }))
      return {
        mayAsk: rights.some(({ name }) => /reviews/.test(name)),
        mayReadNamespaces: JSON.stringify(rights.filter(({ name }) => name.endsWith('-api'))).includes(
          '"namespaces"',
        ),
      }
    }
    expect(await rightsWith()).toEqual({ mayAsk: true, mayReadNamespaces: true })
    expect(await rightsWith('watchNamespaces={shop}')).toEqual({ mayAsk: true, mayReadNamespaces: true })
    expect(await rightsWith('oidc.groupRoles.ops.shop=admin')).toEqual({
      mayAsk: false,
      mayReadNamespaces: false,
    })
  })

  test('of one release are not those of another in its namespace', async () => {
    const rendered = await renderChart({ set: ['fullnameOverride=other'] })
    const named = [...rendered.matchAll(/resourceNames: \[(.+)\]/g)].map(([, name]) => name)
    expect(named).toEqual([
      'other-controller',
      'other-state',
      'other-executor',
      'other-token, other-key, other-redis-api, other-redis-executor, other-redis',
      'punctual',
      'kubernetes',
      'other-controller, other-api',
      'other-controller',
      'other-state',
    ])
    expect(rendered).toMatch(/name: PUNCTUAL_INSTANCE_NAME\s+value: other\n/)
  })
})

describe('the pods of a Redis of yours', () => {
  const annotationsWith = async (set: readonly string[]) =>
    documentsOf(await renderAnew({ set }))
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec?.['template'] as Pick<AnyObject, 'metadata'> | undefined)
      .map((template) => template?.metadata.annotations)

  test('are others when its URL is, and the same when it is not', async () => {
    const url = 'redis.external.url=redis://:pass@redis.example'
    const [first, again, other] = await Promise.all(
      [url, url, `${url}:6380`].map((set) => annotationsWith([set])),
    )
    expect(first).toHaveLength(3)
    for (const one of first ?? []) expect(one).toEqual({ 'checksum/redis-url': expect.any(String) })
    expect(again).toEqual(first)
    expect(other).toHaveLength(3)
    other?.forEach((one, index) => expect(one).not.toEqual(first?.[index]))
  })

  test("are the same at every rendering when all Secrets are the chart's own or yours", async () => {
    expect(await annotationsWith([])).toEqual([undefined, undefined, undefined])
    const yours = await annotationsWith(['redis.external.existingSecret=redis', 'api.podAnnotations.team=a'])
    expect(yours).toEqual([{ team: 'a' }, undefined, undefined])
  })
})

test('the password of the bundled Redis goes to pods as it is, in no URL that it could break', async () => {
  const rendered = await renderChart({ set: ['redis.bundled.existingSecret=mine'] })
  const urls = [...rendered.matchAll(/name: PUNCTUAL_REDIS_URL\n +value: (.+)\n +- name: (.+)\n/g)]
  const expected = ['redis://punctual-redis:6379', 'PUNCTUAL_REDIS_PASSWORD']
  expect(urls.map(([, url, next]) => [url, next])).toEqual([expected, expected, expected])
})

test('the key of secrets goes to those who seal or open them, and never to the API', async () => {
  interface Variable {
    readonly name: string
    readonly valueFrom?: unknown
  }
  const documents = documentsOf(await renderChart({ set: ['secretsKey.existingSecret=mine'] }))
  const keysOf = (component: string) => {
    const found = documents.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === `punctual-${component}`,
    )
    const template = found?.spec?.['template'] as { spec: { containers: { env: Variable[] }[] } }
    const env = template.spec.containers.flatMap((container) => container.env)
    return env.filter(({ name }) => name.includes('SECRETS_KEY')).map(({ valueFrom }) => valueFrom)
  }
  const both = [
    { secretKeyRef: { name: 'mine', key: 'secrets-key' } },
    { secretKeyRef: { name: 'mine', key: 'other-secrets-keys', optional: true } },
  ]
  expect(keysOf('controller')).toEqual(both)
  expect(keysOf('executor')).toEqual(both)
  expect(keysOf('api')).toEqual([])
})

describe('the mail server', () => {
  const portsOfExecutors = async (set: readonly string[]) => {
    const policy = documentsOf(await renderChart({ set })).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'punctual-executor',
    )
    const rules = (policy?.spec?.['egress'] ?? []) as { ports?: { port: number }[]; to?: unknown }[]
    return rules.filter(({ ports }) => ports?.some(({ port }) => [25, 465, 587].includes(port)))
  }

  test('is reached and known where there is one, by executors alone', async () => {
    const set = ['notifications.smtp.existingSecret=smtp', 'notifications.smtp.from=alerts@a.test']
    expect(await portsOfExecutors(set)).toEqual([{ ports: [{ protocol: 'TCP', port: 587 }] }])
    const there = [...set, 'notifications.smtp.port=25', 'notifications.smtp.cidrs={10.1.2.3/32}']
    expect(await portsOfExecutors(there)).toEqual([
      { ports: [{ protocol: 'TCP', port: 25 }], to: [{ ipBlock: { cidr: '10.1.2.3/32' } }] },
    ])
    const rendered = await renderChart({ set })
    expect(
      rendered.match(/PUNCTUAL_SMTP_URL\n +valueFrom:\n +secretKeyRef:\n +name: smtp\n +key: url/g),
    ).toHaveLength(1)
    expect(rendered.match(/PUNCTUAL_SMTP_FROM\n +value: "alerts@a.test"/g)).toHaveLength(1)
  })

  test('opens nothing where there is none', async () => {
    expect(await portsOfExecutors([])).toEqual([])
    expect(await renderChart()).not.toContain('SMTP')
  })
})

describe('a tracing system', () => {
  const waysTo = async (component: string, set: readonly string[]) => {
    const policy = documentsOf(await renderChart({ set })).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === `punctual-${component}`,
    )
    const rules = (policy?.spec?.['egress'] ?? []) as { ports?: { port: number }[]; to?: unknown }[]
    return rules.filter(({ ports }) => ports?.some(({ port }) => [4317, 4318].includes(port)))
  }
  const endpoint = 'tracing.endpoint=http://collector.observability:4318'

  test('is reached and known where there is one, by the API and executors', async () => {
    const open = [{ ports: [{ protocol: 'TCP', port: 4318 }] }]
    expect(await waysTo('api', [endpoint])).toEqual(open)
    expect(await waysTo('executor', [endpoint])).toEqual(open)
    expect(await waysTo('controller', [endpoint])).toEqual([])
    const there = [endpoint, 'tracing.port=4317', 'tracing.cidrs={10.1.2.3/32}']
    expect(await waysTo('executor', there)).toEqual([
      { ports: [{ protocol: 'TCP', port: 4317 }], to: [{ ipBlock: { cidr: '10.1.2.3/32' } }] },
    ])
    const rendered = await renderChart({ set: [endpoint, 'tracing.existingSecret=otlp'] })
    const variables = [
      /OTEL_EXPORTER_OTLP_ENDPOINT\n +value: "http:\/\/collector.observability:4318"/g,
      /OTEL_TRACES_SAMPLER\n +value: parentbased_traceidratio/g,
      /OTEL_TRACES_SAMPLER_ARG\n +value: "0.01"/g,
      /OTEL_EXPORTER_OTLP_HEADERS\n +valueFrom:\n +secretKeyRef:\n +name: otlp\n +key: headers/g,
    ]
    expect(variables.map((variable) => rendered.match(variable)?.length)).toEqual([2, 2, 2, 2])
  })

  test('opens nothing where there is none', async () => {
    expect(await waysTo('api', [])).toEqual([])
    expect(await waysTo('executor', [])).toEqual([])
    expect(await renderChart()).not.toContain('OTEL_')
  })
})

describe('the ways out', () => {
  const settingsWith = async (set: readonly string[]) => {
    const rendered = await renderChart({ set })
    const found = [...rendered.matchAll(/name: PUNCTUAL_EGRESS_([A-Z_]+)\n +value: "?(.*?)"?\n/g)]
    const ofRoles = Map.groupBy(found, ([, name = '']) => name)
    return Object.fromEntries(
      [...ofRoles].map(([name, values]) => {
        const [one, ...others] = new Set(values.map(([, , value = '']) => value))
        expect([values.length, others]).toEqual([3, []])
        return [name, one]
      }),
    )
  }
  const blocksWith = async (set: readonly string[]) => {
    const policy = documentsOf(await renderChart({ set })).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'punctual-executor',
    )
    const rules = (policy?.spec?.['egress'] ?? []) as {
      to?: { ipBlock?: { cidr: string; except?: string[] } }[]
      ports?: { port: number }[]
    }[]
    return rules.flatMap(({ to = [], ports = [] }) =>
      to.flatMap(({ ipBlock }) =>
        ipBlock === undefined ? [] : [{ ...ipBlock, ports: ports.map(({ port }) => port) }],
      ),
    )
  }

  test('are known to the controller, the API and the executors', async () => {
    expect(await settingsWith(['tests.enabled=false'])).toEqual({
      DENY: '$(KUBERNETES_SERVICE_HOST)',
      ALLOWABLE: 'none',
    })
    const set = [
      'egress.allow={partner.example=203.0.113.0/24:443,10.1.2.3}',
      'egress.allowable={10.0.0.0/8:443}',
      'egress.clusterCidrs={10.96.0.0/12,fd00::/8}',
    ]
    const test = 'punctual-test.punctual.svc'
    expect(await settingsWith(set)).toEqual({
      ALLOW: `partner.example=203.0.113.0/24:443,10.1.2.3,${test},${test}=10.96.0.0/12,${test}=fd00::/8`,
      DENY: '$(KUBERNETES_SERVICE_HOST)',
      ALLOWABLE: '10.0.0.0/8:443',
      CLUSTER_CIDRS: '10.96.0.0/12,fd00::/8',
    })
  })

  test('do not lead to the API, where it is found from outside', async () => {
    const set = [
      'publicUrl=https://p.test:8443',
      'ingress.enabled=true',
      'ingress.hosts={p.test,q.test,*.test}',
      'httpRoute.hostnames={unused.test}',
    ]
    expect(await settingsWith(set)).toMatchObject({ OWN_HOSTS: 'p.test,q.test' })
  })

  test('are no wider in the network: blocks that are allowed with their ports, none of the cluster', async () => {
    const allow =
      'egress.allow={10.1.0.0/16,10.1.2.3,p.test=203.0.113.0/24:443,fd00::7,fd12::/48:80,10.3.3.3:99,a.test,a.test:80}'
    const blocks = await blocksWith([allow, 'egress.clusterCidrs={9.0.0.0/8,2001:db8::/32}'])
    const except = blocks.flatMap((block) => block.except ?? [])
    expect(except).toEqual(expect.arrayContaining(['10.0.0.0/8', 'fc00::/7', '9.0.0.0/8', '2001:db8::/32']))
    expect(blocks.filter((block) => block.except === undefined && !block.ports.includes(53))).toEqual([
      { cidr: '10.1.0.0/16', ports: [] },
      { cidr: '10.1.2.3/32', ports: [] },
      { cidr: '203.0.113.0/24', ports: [443] },
      { cidr: 'fd00::7/128', ports: [] },
      { cidr: 'fd12::/48', ports: [80] },
      { cidr: '10.3.3.3/32', ports: [99] },
    ])
  })

  test.each(['10.96.0.0', 'cluster.local', '10.96.0.0/12:443'])(
    '%s is no block of the cluster',
    async (one) => {
      await expect(renderChart({ set: [`egress.clusterCidrs={${one}}`] })).rejects.toThrow('clusterCidrs')
    },
  )
})

describe('an OIDC provider', () => {
  const OIDC = [
    'oidc.issuer=https://id.test',
    'oidc.clientId=punctual',
    'oidc.existingSecret=oidc',
    'publicUrl=https://p.test',
  ]

  test('is known to the API alone, which may reach it', async () => {
    const set = [...OIDC, 'oidc.groupRoles.ops.shop=admin', 'oidc.cidrs={203.0.113.7/32}', 'oidc.port=8443']
    const rendered = await renderChart({ set })
    const secret =
      /PUNCTUAL_OIDC_CLIENT_SECRET\n +valueFrom:\n +secretKeyRef:\n +name: oidc\n +key: client-secret/g
    expect(rendered.match(secret)).toHaveLength(1)
    expect(rendered).toContain(String.raw`value: "{\"ops\":{\"shop\":\"admin\"}}"`)
    const rules = documentsOf(rendered).flatMap(({ kind, metadata, spec }) =>
      kind === 'NetworkPolicy' && JSON.stringify(spec).includes('8443') ? [metadata.name] : [],
    )
    expect(rules).toEqual(['punctual-api'])
    expect(await renderChart()).not.toContain('OIDC')
  })

  test.each(OIDC.slice(1))('without %s is refused', async (missing) => {
    const set = OIDC.filter((one) => one !== missing)
    await expect(renderChart({ set })).rejects.toThrow(
      /oidc: give issuer, clientId, existingSecret and publicUrl/,
    )
  })
})

describe('the plain manifests', () => {
  test('are what the chart makes', async () => {
    const stale = [...(await plainManifests(ROOT, helm))].filter(
      ([path, text]) => readFileSync(`${ROOT}${path}`, 'utf8') !== text,
    )
    expect(stale.map(([path]) => path)).toEqual([])
  })

  test('go by the real time', async () => {
    const plain = await plainManifests(ROOT, helm)
    const texts = [...plain.values()]
    expect(texts.some((text) => text.includes('PUNCTUAL_SHARDS'))).toBe(true)
    expect(texts.filter((text) => text.includes('PUNCTUAL_TEST_CLOCK'))).toEqual([])
  })

  test('are taken by the API server, with nothing else there', async () => {
    const manifests = readFileSync(`${ROOT}config/install.yaml`, 'utf8')
    const [first] = documentsOf(manifests)
    expect(first).toMatchObject({ kind: 'Namespace', metadata: { name: 'punctual' } })
    await api.apply(JSON.stringify(first))
    for (const object of documentsOf(manifests)) await take(JSON.stringify(object))
  })
})

test.each([
  ['kubernetesUsers.tokens=all', /\/kubernetesUsers\/tokens.*must be one of/],
  ['shards=0', /\/shards.*minimum/],
  ['shard=4', /additional properties 'shard' not allowed/],
  ['api.replica=3', /\/api.*additional properties 'replica' not allowed/],
  ['executor.scaling.mode=auto', /\/executor\/scaling\/mode.*'builtin', 'external', 'fixed'/],
  ['redis.external.url=http://redis', /\/redis\/external\/url.*does not match/],
  ['networkPolicy.blockedCidrs={10.0.0.1}', /\/networkPolicy\/blockedCidrs\/0.*does not match/],
  ['watchNamespaces={a,a}', /\/watchNamespaces.*equal/],
  ['namespaceSelector=a=b c', /\/namespaceSelector.*does not match/],
  ['namespaceSelector=a=b,watchNamespaces={shop}', /give watchNamespaces or namespaceSelector, not both/],
  ['executor.scaling.min=5,executor.scaling.max=3', /executor\.scaling: min \(5\) is above max \(3\)/],
  [
    'api.autoscaling.enabled=true,api.autoscaling.minReplicas=11',
    /api\.autoscaling: minReplicas \(11\) is above maxReplicas \(10\)/,
  ],
  ['tracing.existingSecret=a', /tracing\.existingSecret: give tracing\.endpoint too, or neither/],
  ['tracing.endpoint=collector:4318', /\/tracing\/endpoint.*does not match/],
  ['notifications.smtp.existingSecret=a', /notifications\.smtp: give existingSecret and from, or neither/],
  ['notifications.smtp.from=nobody', /\/notifications\/smtp\/from.*does not match/],
  ['redis.external.url=redis://a,redis.external.existingSecret=b', /give url or existingSecret, not both/],
])('the value %s is refused', async (value, message) => {
  await expect(renderChart({ set: [value] })).rejects.toThrow(message)
})

test('an empty list of what teams may open is refused, as it would set nothing', async () => {
  const values = { egress: { allowable: [] } }
  await expect(renderChart({ values })).rejects.toThrow(/\/egress\/allowable.*minItems/)
})
