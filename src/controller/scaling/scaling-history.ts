/** A number of executors that was needed, and when it was needed last. */
export interface Need {
  readonly replicas: number
  readonly atMs: number
}

export interface ScalingHistory {
  /**
   * The needs within the window that can still matter. Each is smaller than the one before it, and the last is the
   * newest, so there are never more entries than replicas allowed.
   */
  readonly needs: readonly Need[]
  /** When the number was last raised; null = not since the history began. */
  readonly raisedAtMs: number | null
}

/** Adds the current need. @returns the highest need within the window as well */
export function addNeed(
  before: readonly Need[],
  replicas: number,
  { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number },
): { readonly needs: readonly Need[]; readonly highest: number } {
  const larger = before.filter((need) => need.atMs > nowMs - windowMs && need.replicas > replicas)
  return { needs: [...larger, { replicas, atMs: nowMs }], highest: larger[0]?.replicas ?? replicas }
}
