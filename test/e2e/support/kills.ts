/** Pods that die as they do when a machine is lost, and who leads. */
import { RELEASE_NAMESPACE, type KindCluster } from '../../support/cluster/kind-cluster.ts'

/** The name of the controller pod that leads; empty while none does. */
export async function leaderOf(cluster: KindCluster): Promise<string> {
  const lease = ['get', 'lease', 'punctual-controller', '-o', 'jsonpath={.spec.holderIdentity}']
  const holder = await cluster.kubectl('--namespace', RELEASE_NAMESPACE, ...lease)
  return holder.split('_')[0] ?? ''
}

/**
 * Answers what kubectl says about each.
 * @param which names of pods, or a selector as kubectl has it
 */
export function killNow(cluster: KindCluster, ...which: string[]): Promise<string> {
  const now = ['--force', '--grace-period=0', '--wait=false']
  return cluster.kubectl('--namespace', RELEASE_NAMESPACE, 'delete', 'pod', ...which, ...now)
}

export const EXECUTOR_PODS = ['--selector', 'app.kubernetes.io/component=executor'] as const
