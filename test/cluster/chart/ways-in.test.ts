import { describe, expect, test } from 'vitest'
import { renderChart } from '../../support/cluster/chart.ts'
import { createChartWorld } from '../../support/cluster/chart-world.ts'
import { type AnyObject, documentsOf } from '../../support/cluster/kubernetes-api.ts'

const { api, rendered, namespace } = createChartWorld()

/** What the API server takes, and would keep. */
async function taken(objects: readonly AnyObject[], kind: string, name: string): Promise<AnyObject> {
  const found = objects.find((one) => one.kind === kind && one.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  await api.apply(JSON.stringify(found), { dryRun: true })
  return found
}

const SERVICE = {
  type: 'LoadBalancer',
  port: 443,
  labels: { team: 'platform' },
  annotations: { 'service.beta.kubernetes.io/aws-load-balancer-scheme': 'internal' },
  loadBalancerClass: 'service.k8s.aws/nlb',
  loadBalancerSourceRanges: ['203.0.113.0/24'],
  externalTrafficPolicy: 'Local',
  ipFamilyPolicy: 'SingleStack',
  ipFamilies: ['IPv4'],
}

test('a load balancer gets its class, its ranges and its families', async () => {
  const service = await taken(await rendered({ api: { service: SERVICE } }), 'Service', 'punctual-api')
  const { labels, annotations, port, ...spec } = SERVICE
  expect(service.metadata).toMatchObject({ labels, annotations })
  expect(service.spec).toMatchObject({ ...spec, ports: [{ port, appProtocol: 'http' }] })
})

test.each([
  [{ loadBalancerClass: 'a' }, /loadBalancerClass and loadBalancerSourceRanges are for type LoadBalancer/],
  [{ type: 'NodePort', loadBalancerSourceRanges: ['10.0.0.0/8'] }, /are for type LoadBalancer/],
  [{ externalTrafficPolicy: 'Local' }, /externalTrafficPolicy is for type NodePort or LoadBalancer/],
  [{ type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.1'] }, /loadBalancerSourceRanges\/0/],
])('a Service of %j is refused', async (service, message) => {
  await expect(rendered({ api: { service } })).rejects.toThrow(message)
})

test('a certificate makes the API speak HTTPS, and helm test trust it', async () => {
  const objects = await rendered({ api: { tls: { existingSecret: 'punctual-api-tls' } } })
  const service = await taken(objects, 'Service', 'punctual-api')
  expect(service.spec).toMatchObject({ ports: [{ appProtocol: 'https' }] })
  const deployment = await taken(objects, 'Deployment', 'punctual-api')
  const mount = { name: 'api-tls', mountPath: '/etc/punctual/api-tls', readOnly: true }
  expect(deployment.spec).toMatchObject({
    template: {
      spec: {
        volumes: [{ name: 'api-tls', secret: { secretName: 'punctual-api-tls' } }],
        containers: [
          {
            volumeMounts: [mount],
            env: expect.arrayContaining([
              { name: 'PUNCTUAL_TLS_CERT', value: '/etc/punctual/api-tls/tls.crt' },
              { name: 'PUNCTUAL_TLS_KEY', value: '/etc/punctual/api-tls/tls.key' },
            ]),
          },
        ],
      },
    },
  })
  const others = objects.filter(({ metadata }) => /-(?:executor|controller)$/.test(metadata.name))
  expect(JSON.stringify(others)).not.toContain('api-tls')
  const tester = objects.find(({ kind }) => kind === 'Pod')
  expect(tester?.spec).toMatchObject({
    containers: [
      {
        env: expect.arrayContaining([
          { name: 'PUNCTUAL_SERVER', value: `https://punctual-api.${namespace()}.svc:80` },
          { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/punctual/api-tls/ca.crt' },
        ]),
        volumeMounts: [mount],
      },
    ],
    volumes: [{ secret: { items: [{ key: 'ca.crt', path: 'ca.crt' }] } }],
  })
  const path = `/api/v1/namespaces/${namespace()}/pods?dryRun=All&fieldValidation=Strict`
  const pod = { ...tester, spec: { ...tester?.spec, serviceAccountName: 'default' } }
  expect(await api.send('POST', path, pod)).toMatchObject({ kind: 'Pod' })
})

test('without one it speaks HTTP', async () => {
  const text = await renderChart()
  expect(text).not.toContain('api-tls')
  expect(text).toContain('value: http://punctual-api:80')
})

describe('ways to the dashboard', () => {
  const ROUTE = ['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=public']
  const routes = async (set: readonly string[]) =>
    documentsOf(await renderChart({ set })).filter(({ kind }) => /^(?:Ingress|HTTPRoute)$/.test(kind))

  test('are none by default, and lead to the API below its base path', async () => {
    expect(await routes([])).toEqual([])
    const url = 'publicUrl=https://p.test/tools/punctual'
    const [ingress] = await routes(['ingress.enabled=true', 'ingress.hosts={p.test}', url])
    expect(ingress).toMatchObject({ kind: 'Ingress', spec: { rules: [{ host: 'p.test' }] } })
    const [route] = await routes([...ROUTE, 'httpRoute.hostnames={p.test}', url])
    expect(route).toMatchObject({
      kind: 'HTTPRoute',
      spec: { parentRefs: [{ name: 'public' }], hostnames: ['p.test'] },
    })
    for (const one of [ingress, route]) expect(JSON.stringify(one)).toContain('"/tools/punctual"')
    expect(await renderChart({ set: [url] })).toMatch(/PUNCTUAL_BASE_PATH\n +value: "\/tools\/punctual"/)
  })

  test('and the dashboard itself is off by one value', async () => {
    expect(await renderChart()).not.toContain('PUNCTUAL_DASHBOARD')
    const rendered = await renderChart({ set: ['dashboard.enabled=false'] })
    expect(rendered.match(/PUNCTUAL_DASHBOARD\n +value: 'off'/g)).toHaveLength(1)
  })

  test.each([
    [['ingress.enabled=true'], /ingress: give the names of its hosts/],
    [['httpRoute.enabled=true'], /httpRoute: give the gateways/],
    [ROUTE, /httpRoute: give its hostnames/],
    [['dashboard.basePath=/a', 'publicUrl=https://p.test/b'], /must be the path of publicUrl/],
    [['dashboard.basePath=/api'], /cannot be the base path/],
    [['publicUrl=https://p.test/echo/x'], /cannot be the base path/],
  ])('%j is refused', async (set, reason) => {
    await expect(renderChart({ set })).rejects.toThrow(reason)
  })
})
