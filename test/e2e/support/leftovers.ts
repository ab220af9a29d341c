/** What an installation has left on a cluster, of whatever kind. */
import type { KindCluster } from '../../support/cluster/kind-cluster.ts'
import type { AnyObject } from '../../support/cluster/kubernetes-api.ts'

/** Those go by themselves, and tell of what was. */
const NOT_KEPT = new Set(['events', 'events.events.k8s.io', 'componentstatuses'])
/** Every namespace has them. */
const OF_EVERY_NAMESPACE = new Set(['ConfigMap/kube-root-ca.crt', 'ServiceAccount/default'])

/**
 * Answers all objects of a namespace, and all others that bear our name or label, as `kind/namespace/name`.
 * @param namespace where the release was; itself and what surroundings.yaml put there do not count
 */
export async function leftovers(cluster: KindCluster, namespace: string): Promise<string[]> {
  const served = await cluster.kubectl('api-resources', '--verbs=list', '--output=name')
  const kinds = served.split('\n').filter((kind) => kind !== '' && !NOT_KEPT.has(kind))
  const listed = await cluster.kubectl('get', kinds.join(','), '--all-namespaces', '--output=json')
  const { items } = JSON.parse(listed) as { items: AnyObject[] }
  const nodes = items.filter(({ kind }) => kind === 'Node').map(({ metadata }) => metadata.name)
  const isLeft = (object: AnyObject) => {
    const { kind, metadata } = object
    if (kind === 'Namespace' || OF_EVERY_NAMESPACE.has(`${kind}/${metadata.name}`)) return false
    if (metadata.name.startsWith('punctual-from-outside')) return false
    // Nodes bear the name of the cluster, and some objects that of a node.
    if (nodes.some((node) => metadata.name.includes(node))) return false
    return metadata.namespace === namespace || isOurs(object) || isVolumeOf(object, namespace)
  }
  return items
    .filter(isLeft)
    .map(({ kind, metadata }) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`)
    .toSorted()
}

function isOurs({ metadata }: AnyObject): boolean {
  const labels = metadata['labels'] as Readonly<Record<string, string>> | undefined
  return metadata.name.includes('punctual') || labels?.['app.kubernetes.io/name'] === 'punctual'
}

function isVolumeOf({ kind, spec }: AnyObject, namespace: string): boolean {
  const claim = spec?.['claimRef'] as { readonly namespace?: string } | undefined
  return kind === 'PersistentVolume' && claim?.namespace === namespace
}
