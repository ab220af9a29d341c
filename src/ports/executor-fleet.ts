import type { ObjectRef } from './kube-object.ts'

/** The executor pods as the API server knows them. */
export interface FleetState {
  /** The Deployment, for events about it. */
  readonly ref: ObjectRef
  /** As written in the Deployment's scale. */
  readonly desired: number
  /** Pods that exist and are not on their way out. */
  readonly current: number
  readonly ready: number
  /** Someone else scales the Deployment: kind and name of an HPA or a ScaledObject; null = nobody. */
  readonly otherScaler: string | null
}

/** The Deployment of executors. Throws ResourceApiError. */
export interface ExecutorFleet {
  /** null when the Deployment does not exist. */
  read(): Promise<FleetState | null>
  scaleTo(replicas: number): Promise<void>
  /**
   * Marks what each pod holds, so that idle ones go first when the Deployment shrinks
   * (`controller.kubernetes.io/pod-deletion-cost`); writes only what has changed.
   * @param held calls in flight by pod name; pods not named hold nothing
   * @param signal gives the rest up
   */
  markBusy(held: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void>
}
