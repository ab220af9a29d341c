/** What the controller counts about resources and engine, as `punctual_*`. */
export interface ControllerMetrics {
  /** The engine was found to be another, or an older copy. */
  engineLost(reason: 'EngineLost' | 'EngineRestored'): void
  /** Whether this process leads and holds a term of the engine, as looked at last. */
  engineHeld(isHeld: boolean): void
  /** A deleted resource was let go although the engine did not answer: its queue may be left in it. */
  queueLeftBehind(): void
  /** As `queueLeftBehind`, of a cron, which ticks on. */
  cronLeftBehind(): void
  /** Queues in force whose resource is gone; above the bound they are left alone. */
  orphanQueues(count: number): void
  /** As `orphanQueues`, of crons. */
  orphanCrons(count: number): void
  /** Crons that are not in force, as their teams have too many or too large ones. */
  cronsOverQuota(count: number): void
  /** Pushed queues that stay without a resource, as their namespace has too many; of very many, those seen last. */
  pushedQueuesWaiting(count: number): void
  /** The jobs of all queues with a resource were counted once more. */
  queuesCounted(): void
  statusWritten(kind: 'HttpQueue' | 'HttpCron' | 'TeamSettings' | 'ApiToken'): void
}
