/** Why a watch ended. `silent`: no byte for too long. `expired`: its version is too old, a list follows. */
export type WatchEnd = 'closed' | 'silent' | 'expired' | 'failed'

/** What is counted about talking to the Kubernetes API, as `punctual_kube_*`. */
export interface ClusterMetrics {
  /**
   * One request as sent, retries apart.
   * @param verb the HTTP method, or WATCH until its answer begins
   * @param code the answer's status, null when none came
   */
  requestEnded(verb: string, code: number | null, seconds: number): void
  /** @param resource the plural name of the kind */
  watchEnded(resource: string, end: WatchEnd): void
  /**
   * A list was answered, or a watch sent anything at all.
   * @param namespace null = all
   */
  watchHeard(resource: string, namespace: string | null): void
}
