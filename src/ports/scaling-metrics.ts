/** What is counted about the number of executors, as `punctual_*`; only by the process that scales them. */
export interface ScalingMetrics {
  /**
   * @param desired as written in the Deployment's scale
   * @param current pods that exist
   */
  executorReplicas(desired: number, current: number): void
  /** @param isActive the number follows the work */
  scalingActive(isActive: boolean): void
  /** @param isLimited more executors are wanted than are allowed */
  scalingLimited(isLimited: boolean): void
  /** Another process may scale from here on: what this one knew is no longer told. */
  scalingEnded(): void
}
