import type { ClusterMetrics } from '../../ports/metrics.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { KubeObject, ObjectKey } from '../../ports/kubernetes.ts'
import type { ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'

/** Where a reflector puts what it hears. */
export interface ReflectorSink<T extends KubeObject> {
  /** What it has been told of this key last. */
  known(key: ObjectKey): T | undefined
  /** All objects of the namespace, or of all; called at the first list and whenever events may have been missed. */
  replace(namespace: string | null, objects: readonly T[]): void
  put(object: T): void
  remove(object: T): void
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ClusterMetrics
  readonly transport: Transport
  /** 0 ≤ x < 1; for pauses and the length of watches. */
  readonly random: () => number
  readonly kind: ResourceKind
  /** null = all. */
  readonly namespace: string | null
  readonly sink: ReflectorSink<T>
  /** What is kept of each object; all of it when left out. */
  readonly lean?: (object: KubeObject) => KubeObject
}
