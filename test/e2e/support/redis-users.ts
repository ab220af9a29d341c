import type { KindCluster } from '../../support/cluster/kind-cluster.ts'
import type { AnyObject } from '../../support/cluster/kubernetes-api.ts'

/** By which users the pods of a component are logged in to the bundled Redis now, in order, each once. */
export async function redisUsersOf(cluster: KindCluster, component: string): Promise<string[]> {
  const selector = `app.kubernetes.io/component=${component}`
  const listed = await cluster.inNamespace('get', 'pods', '--selector', selector, '--output', 'json')
  const { items } = JSON.parse(listed) as { items: AnyObject[] }
  const addresses = new Set(items.map(({ status }) => String(status?.['podIP'])))
  const clients = await cluster.inNamespace('exec', 'punctual-redis-0', '--', 'redis-cli', 'client', 'list')
  const users = [...clients.matchAll(/ addr=([^ ]+):\d+ .* user=([^ ]+)/g)].flatMap(
    ([, address = '', user = '']) => (addresses.has(address) ? [user] : []),
  )
  return [...new Set(users)].sort()
}
