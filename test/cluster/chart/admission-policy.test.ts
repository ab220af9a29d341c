/**
 * What the chart's policies leave of the controller's right to patch pods, and of the API's to make and delete Secrets, asked
 * with their own accounts.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { helmObstacle, renderChart } from '../../support/cluster/chart.ts'
import {
  type AnyObject,
  documentsOf,
  type KubernetesApi,
  newNamespace,
  newServiceAccount,
  openKubernetesApi,
} from '../../support/cluster/kubernetes-api.ts'
import { until } from '../../support/until.ts'

const COST = 'controller.kubernetes.io/pod-deletion-cost'
const LABELS = {
  'app.kubernetes.io/name': 'punctual',
  'app.kubernetes.io/instance': 'punctual',
  'app.kubernetes.io/component': 'executor',
}

const api = openKubernetesApi(inject('clusterAccess'))
let namespace: string
let policies: AnyObject[] = []
let controller: KubernetesApi
let apiAccount: KubernetesApi
let other: KubernetesApi

const isPolicy = ({ kind }: AnyObject) => kind.startsWith('ValidatingAdmissionPolicy')
const policyNamed = (objects: readonly AnyObject[], name: string) =>
  objects.find(({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name.endsWith(name))

beforeAll(async () => {
  if (helmObstacle() !== null) return
  namespace = await newNamespace(api)
  controller = api.as(await newServiceAccount(api, namespace, 'punctual-controller'))
  apiAccount = api.as(await newServiceAccount(api, namespace, 'punctual-api'))
  other = api.as(await newServiceAccount(api, namespace, 'punctual-other'))
  const objects = documentsOf(await renderChart({ namespace }))
  policies = objects.filter(isPolicy)
  const rights = objects.filter(({ metadata }) => metadata.name === 'punctual-own')
  for (const object of [...rights, ...policies]) await api.apply(JSON.stringify(object))
  await api.send('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: 'other' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'punctual-own' },
    subjects: [{ kind: 'ServiceAccount', name: 'punctual-other', namespace }],
  })
  await api.send('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, {
    metadata: { name: 'secrets' },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['create', 'delete'] }],
  })
  await api.send('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: 'secrets' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'secrets' },
    subjects: ['punctual-api', 'punctual-other'].map((name) => ({ kind: 'ServiceAccount', name, namespace })),
  })
  await newPod('executor', LABELS)
  await until('the API server knows the policy', async () => {
    const change = { metadata: { labels: { probe: 'x' } } }
    return patch('executor?dryRun=All', change).then(
      () => false,
      () => true,
    )
  })
  await until('the API server knows the policy for Secrets, and heeds the role', async () => {
    const others = newSecret('probe?', {}, other).then(
      () => true,
      () => false,
    )
    const refused = newSecret('probe', {}, apiAccount).then(
      () => false,
      (error: unknown) => String(error).includes('of its own'),
    )
    return (await others) && refused
  })
})
beforeEach(({ skip }) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
})
afterAll(async () => {
  // They are of the whole cluster.
  for (const { apiVersion, kind, metadata } of policies)
    await api.delete({ apiVersion, kind, name: metadata.name })
  await Promise.all([api, controller, apiAccount, other].map((one) => one.close()))
})

async function newPod(
  name: string,
  labels: Readonly<Record<string, string>>,
  more: object = {},
): Promise<void> {
  await api.send('POST', `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name, labels, ...more },
    spec: { serviceAccountName: 'punctual-other', containers: [{ name: 'main', image: 'punctual' }] },
  })
}

const OWN = { 'punctual.dev/origin': 'api' }

/** @param name without one the Secret is only tried */
function newSecret(
  name: string,
  {
    labels = {},
    annotations = {},
    type = 'Opaque',
  }: {
    labels?: Readonly<Record<string, string>>
    annotations?: Readonly<Record<string, string>>
    type?: string
  },
  as = apiAccount,
): Promise<AnyObject> {
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const isTried = name.startsWith('probe')
  return as.send('POST', isTried ? `${path}?dryRun=All` : path, {
    metadata: { name: name.replace('?', ''), labels, annotations },
    type,
  })
}

const removeSecret = (name: string, as = apiAccount): Promise<AnyObject> =>
  as.send('DELETE', `/api/v1/namespaces/${namespace}/secrets/${name}`)

const patch = (name: string, change: object, as = controller): Promise<AnyObject> =>
  as.send(
    'PATCH',
    `/api/v1/namespaces/${namespace}/pods/${name}`,
    change,
    'application/strategic-merge-patch+json',
  )
const costs = (cost: string | null) => ({ metadata: { annotations: { [COST]: cost } } })

describe('of Secrets, the API', () => {
  test.each(['Opaque', 'punctual.dev/header-secret', 'punctual.dev/signing-secret'])(
    'makes and deletes its own of type %s',
    async (type) => {
      const name = `own-${type.split('/').at(-1)?.toLowerCase() ?? ''}`
      expect((await newSecret(name, { labels: OWN, type })).metadata.name).toBe(name)
      await removeSecret(name)
    },
  )

  test('makes none of another type, such as one that gives an account away', async () => {
    const type = 'kubernetes.io/service-account-token'
    const annotations = { 'kubernetes.io/service-account.name': 'punctual-other' }
    await expect(newSecret('token', { labels: OWN, annotations, type })).rejects.toThrow('of this type')
  })

  test('deletes none of others', async () => {
    await newSecret('of-others', {}, api)
    await expect(removeSecret('of-others')).rejects.toThrow('punctual.dev/origin is not api')
    // Nothing but the policy refuses it.
    await removeSecret('of-others', other)
  })
})

describe('of an executor, the controller', () => {
  test('writes, changes and removes the deletion cost, whatever else the pod has', async () => {
    const more = { annotations: { team: 'shop' }, finalizers: ['punctual.dev/test'] }
    await newPod('rich', { ...LABELS, team: 'shop' }, more)
    for (const pod of ['executor', 'rich']) {
      for (const cost of ['4', '8', null]) {
        const { metadata } = await patch(pod, costs(cost))
        const annotations = (metadata['annotations'] ?? {}) as Readonly<Record<string, string>>
        expect(annotations[COST] ?? null).toBe(cost)
      }
    }
    for (const change of [
      { annotations: { team: null } },
      { annotations: { team: 'mail' } },
      { finalizers: null },
    ])
      await expect(patch('rich', { metadata: change })).rejects.toMatchObject({
        code: 422,
        reason: 'Invalid',
      })
  })

  test.each([
    ['an image', { spec: { containers: [{ name: 'main', image: 'other' }] } }, 'spec of pods'],
    ['a time to live', { spec: { activeDeadlineSeconds: 1 } }, 'spec of pods'],
    ['a label', { metadata: { labels: { 'app.kubernetes.io/component': 'api' } } }, 'metadata.labels'],
    [
      'another annotation',
      { metadata: { annotations: { other: 'x' } } },
      `only change the annotation ${COST}`,
    ],
    [
      'another annotation beside it',
      { metadata: { annotations: { [COST]: '1', other: 'x' } } },
      `only change the annotation ${COST}`,
    ],
    ['a finalizer', { metadata: { finalizers: ['punctual.dev/test'] } }, 'metadata.finalizers'],
    [
      'an owner',
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'b' }] } },
      'metadata.ownerReferences',
    ],
  ])('does not change %s', async (_, change, reason) => {
    await expect(patch('executor', change)).rejects.toThrow(reason)
    // Nothing but the policy refuses it.
    await patch('executor?dryRun=All', change, other)
  })
})

test.each(Object.keys(LABELS))('a pod with another %s is none of its executors', async (label) => {
  const name = `not-${label.split('/')[1] ?? ''}`
  await newPod(name, { ...LABELS, [label]: 'other' })
  await expect(patch(name, costs('1'))).rejects.toThrow(`may only patch its executors: ${label} is not`)
  await newPod(`${name}-at-all`, Object.fromEntries(Object.entries(LABELS).filter(([key]) => key !== label)))
  await expect(patch(`${name}-at-all`, costs('1'))).rejects.toThrow(`its executors: ${label} is not`)
})

test.each(['controller-pods', 'api-secrets'])('the API server finds nothing wrong in %s', async (name) => {
  const policy = policyNamed(policies, name)
  if (policy === undefined) throw new Error('the chart makes no policy')
  const { apiVersion, kind, metadata } = policy
  const read = async () =>
    (await api.get({ apiVersion, kind, name: metadata.name })).status?.['typeChecking'] as
      | { readonly expressionWarnings?: readonly object[] }
      | undefined
  await until('they are checked', async () => (await read()) !== undefined)
  expect((await read())?.expressionWarnings ?? []).toEqual([])
})

describe('the policy', () => {
  const made = async (...set: readonly string[]) =>
    documentsOf(await renderChart({ set })).filter(isPolicy).length

  test('is made where the chart gives the right in the whole cluster, or where you say so', async () => {
    expect(await made()).toBe(4)
    expect(await made('admissionPolicy.enabled=false')).toBe(0)
    expect(await made('watchNamespaces={shop}')).toBe(0)
    expect(await made('watchNamespaces={shop}', 'admissionPolicy.enabled=true')).toBe(4)
    expect(await made('rbac.create=false')).toBe(0)
    expect(await made('rbac.create=false', 'admissionPolicy.enabled=true')).toBe(4)
  })

  test.each(['external', 'fixed'])('for pods is none where the number of executors is %s', async (mode) => {
    expect(await made(`executor.scaling.mode=${mode}`, 'admissionPolicy.enabled=true')).toBe(2)
  })

  test('for Secrets is none where the API has no right over them', async () => {
    expect(await made('api.cronSecrets.enabled=false')).toBe(2)
    expect(await made('api.cronSecrets.enabled=false', 'api.signingSecrets.enabled=true')).toBe(4)
  })

  test.each([
    ['controller', 'controller-pods'],
    ['api', 'api-secrets'],
  ])('names the account that the %s has', async (component, name) => {
    const set = [`${component}.serviceAccount.name=mine`, 'fullnameOverride=jobs']
    const objects = documentsOf(await renderChart({ set, namespace: 'here' }))
    expect(policyNamed(objects, name)).toMatchObject({
      metadata: { name: `here-jobs-${name}` },
      spec: {
        matchConditions: [{ expression: "request.userInfo.username == 'system:serviceaccount:here:mine'" }],
      },
    })
  })
})
