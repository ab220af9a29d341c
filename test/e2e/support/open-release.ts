/** The releases that scenarios run on. Those of the shared cluster are beside each other, each in its own namespace. */
import { inject } from 'vitest'
import {
  openKindCluster,
  RELEASE_NAMESPACE,
  type KindAccess,
  type KindCluster,
} from '../../support/cluster/kind-cluster.ts'
import { openKubernetesApi } from '../../support/cluster/kubernetes-api.ts'
import { apiAnswers, firstToken, installRelease, type Place } from './release.ts'

/** The node ports of scripts/e2e.sh, and the namespaces whose releases are reached by them. */
const NODE_PORTS = {
  [RELEASE_NAMESPACE]: 30080,
  'at-rest': 30081,
  losses: 30082,
} as const

type Namespace = keyof typeof NODE_PORTS

/** The release of the setup, for scenarios that do not mind each other. */
export function openSharedRelease(): KindCluster {
  return openKindCluster(inject('kindAccess').shared, inject('sharedRelease'))
}

/** A release beside the shared one, for scenarios that need one at rest or kill its pods. */
export async function openOwnRelease(
  namespace: Exclude<Namespace, typeof RELEASE_NAMESPACE>,
): Promise<KindCluster> {
  const access = inject('kindAccess').shared
  await placeFor(access, namespace)
  return install(access, namespace, ['crds.enabled=false', `watchNamespaces={${namespace}}`])
}

/** The release on a cluster that has no other. */
export function openOnlyRelease(access: KindAccess): Promise<KindCluster> {
  return install(access, RELEASE_NAMESPACE)
}

/** Answers a release that was installed already, with its first token. */
export async function openInstalled(access: KindAccess, namespace: Namespace): Promise<KindCluster> {
  const apiUrl = access.urls[NODE_PORTS[namespace] - NODE_PORTS[RELEASE_NAMESPACE]] ?? ''
  const token = await firstToken({ kubeconfig: access.kubeconfig, namespace })
  await apiAnswers({ apiUrl, token })
  return openKindCluster(access, { namespace, apiUrl, token })
}

async function install(
  access: KindAccess,
  namespace: Namespace,
  set: readonly string[] = [],
): Promise<KindCluster> {
  const place: Place = { kubeconfig: access.kubeconfig, namespace }
  await installRelease(place, set)
  return openInstalled(access, namespace)
}

/** As surroundings.yaml has it for the release of the setup. */
async function placeFor(access: KindAccess, namespace: Namespace): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  const selector = { 'app.kubernetes.io/name': 'punctual', 'app.kubernetes.io/component': 'api' }
  const ports = [{ port: 80, targetPort: 8080, nodePort: NODE_PORTS[namespace] }]
  const kubernetes = openKubernetesApi(access.cluster)
  const apply = (kind: string, metadata: object, more: object = {}) =>
    kubernetes.apply(JSON.stringify({ apiVersion: 'v1', kind, metadata, ...more }))
  try {
    await apply('Namespace', { name: namespace, labels })
    const service = { name: 'punctual-from-outside', namespace }
    await apply('Service', service, { spec: { type: 'NodePort', selector, ports } })
  } finally {
    await kubernetes.close()
  }
}
