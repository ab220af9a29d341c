import type { EventRecorder, Informer, ResourceWriter } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { LeaderSession } from '../engine/leader-session.ts'

/** What every reconciler is built from. */
export interface ReconcilerParts<T extends KubeObject> {
  readonly informer: Pick<Informer<T>, 'get' | 'byIndex'>
  readonly writer: ResourceWriter<T>
  readonly engine: Pick<LeaderSession, 'write' | 'obstacle'>
  readonly events: EventRecorder
  readonly clock: Clock
  readonly metrics: Pick<ControllerMetrics, 'statusWritten'>
}
