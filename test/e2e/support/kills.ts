/** Pods that die as they do when a machine is lost, and who leads. */
import type { KindCluster } from '../../support/cluster/kind-cluster.ts'

/** The name of the controller pod that leads; empty while none does. */
export async function leaderOf({ inNamespace }: KindCluster): Promise<string> {
  const lease = ['get', 'lease', 'punctual-controller', '-o', 'jsonpath={.spec.holderIdentity}']
  const holder = await inNamespace(...lease)
  return holder.split('_')[0] ?? ''
}

/**
 * Answers what kubectl says about each.
 * @param which names of pods, or a selector as kubectl has it
 */
export function killNow({ inNamespace }: KindCluster, ...which: string[]): Promise<string> {
  const now = ['--force', '--grace-period=0', '--wait=false']
  return inNamespace('delete', 'pod', ...which, ...now)
}

export const EXECUTOR_PODS = ['--selector', 'app.kubernetes.io/component=executor'] as const

/** How often the containers of API and controller were started anew, by the names of their pods. */
export function restartsOf({ inNamespace }: KindCluster): Promise<string> {
  const columns =
    'jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[*].restartCount}{"\\n"}{end}'
  const ours = 'app.kubernetes.io/component in (api, controller)'
  return inNamespace('get', 'pods', '-l', ours, '-o', columns)
}
