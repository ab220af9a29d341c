import { Registry } from 'prom-client'
import type { ClusterConfig } from '../../kubernetes/client/cluster-config.ts'
import { inClusterConfig } from '../../kubernetes/client/in-cluster-config.ts'
import { createTransport, type Transport } from '../../kubernetes/client/transport.ts'
import type { ClusterMetrics } from '../../ports/metrics.ts'
import type { Informer, ResourceWriter } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import { BY_PLACE, SelectedInformer } from '../../kubernetes/informer/selected-informer.ts'
import {
  SelectedNamespaces,
  type SelectedNamespacesOptions,
} from '../../kubernetes/informer/selected-namespaces.ts'
import { SharedInformer } from '../../kubernetes/informer/shared-informer.ts'
import { ApiResourceWriter } from '../../kubernetes/resources/resource-writer.ts'
import type { ResourceKind } from '../../kubernetes/client/resource-path.ts'
import { readPodEnvironment } from '../../settings/pod-environment.ts'
import type { ApiSettings } from '../../settings/role-settings.ts'
import { createClusterMetrics } from '../../telemetry/cluster-metrics.ts'
import type { ReadinessCheck } from '../../telemetry/ops-server.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { withKubeconfigReader } from '../startup/kubeconfig-reader.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import type { Telemetry } from './telemetry-part.ts'
import { VERSION } from '../startup/version.ts'

/** The Kubernetes API of the cluster that this process runs in, or that KUBECONFIG names. */
export interface Cluster {
  readonly transport: Transport
  /** Whether this installation serves a namespace. With a selector it throws ResourceApiError until all are known. */
  isWatched(namespace: string): boolean
  /** Calls the listener when a namespace begins to match the selector. @returns unsubscribes */
  onJoin(listener: () => void): () => void
  /** A kind with a live copy of its objects in the namespaces, which begins at once and ends with the lifecycle. */
  openKind<T extends KubeObject>(
    kind: ResourceKind,
    indexes: Readonly<Record<string, (object: T) => readonly string[]>>,
    /** Reduces each object before the copy keeps it. */
    transform?: (object: KubeObject) => KubeObject,
  ): OpenKind<T>
  /** A kind without a copy. */
  openWriter<T extends KubeObject>(kind: ResourceKind): ApiResourceWriter<T>
}

export interface OpenKind<T extends KubeObject> {
  readonly informer: Informer<T>
  /** Changes in the API server only; the informer's objects also come and go with their namespace. */
  readonly changes: Pick<Informer<T>, 'isSynced' | 'onChange'>
  readonly writer: ResourceWriter<T>
  readonly check: ReadinessCheck
}

export interface ClusterOptions {
  /** The namespaces to look at; neither list nor selector = all. */
  readonly namespaces: NamespaceScope
  /** Field manager of the fields that this role writes. */
  readonly fieldManager: string
}

type NamespaceScope = Pick<ApiSettings, 'podNamespace' | 'watchNamespaces' | 'namespaceSelector'>

/** Opens a transport for a program that ends by itself, and whose metrics nobody reads. The caller closes it. */
export async function openBriefTransport(): Promise<Transport> {
  return createTransport({
    config: await findCluster(),
    clock: systemClock,
    metrics: createClusterMetrics(new Registry(), systemClock),
    userAgent: `punctual/${VERSION}`,
  })
}

interface ClusterContext {
  readonly telemetry: Telemetry
  readonly lifecycle: Lifecycle
}

/** @throws StartupError when no cluster is named */
export async function openCluster(
  { namespaces: scope, fieldManager }: ClusterOptions,
  { telemetry, lifecycle }: ClusterContext,
): Promise<Cluster> {
  const { logger } = telemetry
  const metrics: ClusterMetrics = createClusterMetrics(telemetry.registry, systemClock)
  const transport = createTransport({
    config: await findCluster(),
    clock: systemClock,
    metrics,
    userAgent: `punctual/${VERSION}`,
  })
  lifecycle.onStop('Kubernetes connections', () => transport.close())
  const shared = { transport, clock: systemClock, logger, metrics, random: Math.random }
  const selected = startNamespaces(scope, shared, lifecycle)
  const watched = scope.watchNamespaces === null ? null : new Set(scope.watchNamespaces)
  return {
    transport,
    isWatched: (namespace) => selected?.has(namespace) ?? watched?.has(namespace) ?? true,
    onJoin: (listener) =>
      selected?.onChange((_namespace, isSelected) => isSelected && listener()) ?? (() => undefined),
    openWriter: (kind) => new ApiResourceWriter({ transport, kind, fieldManager }),
    openKind: <T extends KubeObject>(
      kind: ResourceKind,
      indexes: Readonly<Record<string, (object: T) => readonly string[]>>,
      transform?: (object: KubeObject) => KubeObject,
    ) => {
      const ofAll = { [BY_PLACE]: ({ metadata }: T) => [metadata.namespace] }
      const all = new SharedInformer<T>({
        ...shared,
        kind,
        transform,
        namespaces: scope.watchNamespaces,
        indexes: selected === null ? indexes : ofAll,
      })
      const informer =
        selected === null ? all : new SelectedInformer<T>({ all, namespaces: selected, indexes, logger })
      lifecycle.onStop(`${kind.plural} informer`, () => all.stop())
      all.start()
      const check = { name: kind.plural, failure: () => (informer.isSynced() ? null : 'not listed yet') }
      const writer = new ApiResourceWriter<T>({
        transport,
        kind,
        fieldManager,
        known: (key) => informer.get(key),
      })
      const changes: OpenKind<T>['changes'] = {
        isSynced: () => informer.isSynced(),
        onChange: (listener) => all.onChange(listener),
      }
      return { informer, changes, writer, check }
    },
  }
}

/** null without a selector. */
function startNamespaces(
  { podNamespace, namespaceSelector }: NamespaceScope,
  shared: Omit<SelectedNamespacesOptions, 'labelSelector' | 'ownNamespace'>,
  lifecycle: Lifecycle,
): SelectedNamespaces | null {
  if (namespaceSelector === null) return null
  const selected = new SelectedNamespaces({
    ...shared,
    labelSelector: namespaceSelector,
    ownNamespace: podNamespace ?? '',
  })
  lifecycle.onStop('namespaces informer', () => selected.stop())
  selected.start()
  return selected
}

/** Finds the cluster: that of this pod, or else that of a kubeconfig. */
async function findCluster(): Promise<ClusterConfig> {
  const pod = readPodEnvironment()
  if (pod !== null) return inClusterConfig(pod, systemClock)
  const { loadKubeconfig } = await withKubeconfigReader(
    () => import('../../kubernetes/client/kubeconfig.ts'),
    'unset KUBECONFIG and run in a pod with a service account',
  )
  return loadKubeconfig(null)
}
