/** The loops of this program, as metrics, `/readyz` and the log call them. */
export const LOOP_NAMES = [
  /** Joins a shard and renews its lease. */
  'lease',
  /** Works on a shard until the lease is lost. */
  'session',
  'claim',
  /** Writes the ends that no step could write, nor quarantine. */
  'finish',
  /** Promotes delayed jobs. */
  'promote',
  /** Ticks crons. */
  'tick',
  'reap',
  'statistics',
  'sweep',
  'bulk',
  /** Tells channels of alerts. */
  'notify',
  /** Looks whether this machine was suspended. */
  'suspension',
  /** Reads the compiled settings of teams, and the tokens. */
  'settings',
  /** Reads the compiled maintenance windows. */
  'windows',
] as const

export type LoopName = (typeof LOOP_NAMES)[number]

/** Notes how the iterations of one loop end, and decides how long the loop waits after one that failed. */
export interface LoopIterations {
  /** The iteration has done its work. */
  succeeded(): void
  /**
   * The iteration threw. Answers how long to wait, ms: longer after each of several failures in a row. null when Redis is away
   * or full: that is no defect, is told elsewhere, and the loop has a pause of its own for it.
   */
  failed(error: unknown): number | null
}

/** Knows which loops of this process fail again and again. */
export interface LoopHealth {
  /** @param shard null = the loop belongs to no shard. Answers the same object each time. */
  of(loop: LoopName, shard: number | null): LoopIterations
}
