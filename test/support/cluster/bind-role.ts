import { until } from '../until.ts'
import type { KubernetesApi } from './kubernetes-api.ts'

/** As a SubjectAccessReview asks about it. */
export interface Right {
  readonly group: string
  readonly verb: string
  readonly resource: string
  readonly subresource?: string
}

export interface Grant {
  /** Where it may; null = in the whole cluster. */
  readonly namespace: string | null
  readonly account: { readonly namespace: string; readonly name: string }
  readonly role: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string }
  /** Something that the role allows: the API server hears of a binding by a watch of its own, some time after it has taken it. */
  readonly right: Right
}

/** Gives a ServiceAccount a role, and answers once the API server heeds it. */
export async function bindRole(
  api: KubernetesApi,
  { namespace, account, role, right }: Grant,
): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const bindings = namespace === null ? 'clusterrolebindings' : `namespaces/${namespace}/rolebindings`
  await api.send('POST', `${rbac}/${bindings}`, {
    metadata: { name: `${account.namespace}-${account.name}-${role.name.replace(':', '-')}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...role },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  })
  const user = `system:serviceaccount:${account.namespace}:${account.name}`
  const resourceAttributes = { ...(namespace !== null && { namespace }), ...right }
  await until(`the API server heeds what ${role.name} gives ${account.name}`, async () => {
    const review = await api.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes },
    })
    return review.status?.['allowed'] === true
  })
}
