/** How many executors were asked for, and when last. */
export interface Asked {
  readonly replicas: number
  readonly atMs: number
}

export interface ScalingHistory {
  /**
   * What was asked for within the window, as far as it can still matter: each entry is smaller than the one before
   * it, the last is the newest. So there are never more entries than replicas allowed.
   */
  readonly asked: readonly Asked[]
  /** When the number was last raised; null = not since this began. */
  readonly raisedAtMs: number | null
}

/** Adds what is asked for now; answers the most that was asked for within the window. */
export function askFor(
  before: readonly Asked[],
  replicas: number,
  { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number },
): { asked: readonly Asked[]; highest: number } {
  const larger = before.filter((one) => one.atMs > nowMs - windowMs && one.replicas > replicas)
  return { asked: [...larger, { replicas, atMs: nowMs }], highest: larger[0]?.replicas ?? replicas }
}
