import { StartupError } from '../../domain/errors.ts'
import type { ClusterConfig } from '../../kubernetes/client/cluster-config.ts'
import { inClusterConfig } from '../../kubernetes/client/in-cluster-config.ts'
import { createTransport, type Transport } from '../../kubernetes/client/transport.ts'
import type { ClusterMetrics } from '../../ports/metrics.ts'
import type { KubeObject, Informer, ResourceWriter } from '../../ports/kubernetes.ts'
import { SharedInformer } from '../../kubernetes/informer/shared-informer.ts'
import { ApiResourceWriter } from '../../kubernetes/resources/resource-writer.ts'
import type { ResourceKind } from '../../kubernetes/client/resource-path.ts'
import { readPodPlace } from '../../settings/pod-place.ts'
import { createClusterMetrics } from '../../telemetry/cluster-metrics.ts'
import type { ReadinessCheck } from '../../telemetry/ops-server.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import type { Telemetry } from './telemetry-part.ts'
import { VERSION } from '../startup/version.ts'

/** The Kubernetes API of the cluster that this process runs in, or that KUBECONFIG names. */
export interface Cluster {
  readonly transport: Transport
  /** A kind with a live copy, which begins at once and ends with the lifecycle. */
  openKind<T extends KubeObject>(
    kind: ResourceKind,
    indexes: Readonly<Record<string, (object: T) => readonly string[]>>,
    /** Reduces each object before the copy keeps it. */
    transform?: (object: KubeObject) => KubeObject,
  ): OpenKind<T>
  /** A kind without a copy. */
  openWriter<T extends KubeObject>(kind: ResourceKind): ResourceWriter<T>
}

export interface OpenKind<T extends KubeObject> {
  readonly informer: Informer<T>
  readonly writer: ResourceWriter<T>
  readonly check: ReadinessCheck
}

export interface ClusterOptions {
  /** To look at; null = all. */
  readonly namespaces: readonly string[] | null
  /** Who the fields that this role writes belong to. */
  readonly fieldManager: string
}

/** @throws StartupError when no cluster is named */
export async function openCluster(
  { namespaces, fieldManager }: ClusterOptions,
  { telemetry, lifecycle }: { readonly telemetry: Telemetry; readonly lifecycle: Lifecycle },
): Promise<Cluster> {
  const metrics: ClusterMetrics = createClusterMetrics(telemetry.registry, systemClock)
  const transport = createTransport({
    config: await findCluster(),
    clock: systemClock,
    metrics,
    userAgent: `punctual/${VERSION}`,
  })
  lifecycle.onStop('Kubernetes connections', () => transport.close())
  return {
    transport,
    openWriter: (kind) => new ApiResourceWriter({ transport, kind, fieldManager }),
    openKind: <T extends KubeObject>(
      kind: ResourceKind,
      indexes: Readonly<Record<string, (object: T) => readonly string[]>>,
      transform?: (object: KubeObject) => KubeObject,
    ) => {
      const { logger } = telemetry
      const shared = { transport, clock: systemClock, logger, metrics, random: Math.random }
      const informer = new SharedInformer<T>({ ...shared, kind, namespaces, indexes, transform })
      lifecycle.onStop(`${kind.plural} informer`, () => informer.stop())
      informer.start()
      const check = { name: kind.plural, failure: () => (informer.isSynced() ? null : 'not listed yet') }
      const writer = new ApiResourceWriter<T>({
        transport,
        kind,
        fieldManager,
        known: (key) => informer.get(key),
      })
      return { informer, writer, check }
    },
  }
}

/** Only a kubeconfig needs `@kubernetes/client-node`, which the container image leaves out (docs/adr/0010). */
async function findCluster(): Promise<ClusterConfig> {
  const place = readPodPlace()
  if (place !== null) return inClusterConfig(place, systemClock)
  try {
    const { loadKubeconfig } = await import('../../kubernetes/client/kubeconfig.ts')
    return loadKubeconfig(null)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new StartupError(
      'The container image does not read kubeconfigs: unset KUBECONFIG and run in a pod with a service account, or run a checkout.',
      { cause: error },
    )
  }
}
