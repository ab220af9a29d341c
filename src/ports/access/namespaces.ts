/** Stands in place of a team for the namespace of the installation, by which the cluster is recognized. */
export const CLUSTER = '.cluster'

/**
 * Records which namespace a team's data belongs to, by its uid: one that is made anew under the name is another. Throws
 * StoreUnavailableError.
 */
export interface NamespaceClaims {
  /** Claims the team's data, if nobody has. @returns the uid of the namespace that has it */
  claim(team: string, uid: string): Promise<string>
}

/** Every write of a leader may also end like this. */
type OrSuperseded<T> = T | { readonly status: 'superseded' }

/** Throws StoreUnavailableError. */
export interface NamespaceCompiler {
  /** The uids by team, and that of CLUSTER. */
  namespaces(): Promise<ReadonlyMap<string, string>>
  /** Claims the team's data for the leader, as `NamespaceClaims.claim` does. */
  claimNamespace(team: string, uid: string): Promise<OrSuperseded<{ readonly uid: string }>>
  /** Gives the team's data to another namespace. */
  putNamespace(team: string, uid: string): Promise<OrSuperseded<{ readonly status: 'applied' }>>
  removeNamespace(team: string): Promise<OrSuperseded<{ readonly status: 'removed' }>>
  /**
   * Removes a page of what a team has beside its settings, windows and tokens: crons, queues with their jobs, then what
   * was told of them. The audit log stays.
   * @returns `more`: call it again
   */
  eraseTeam(team: string): Promise<OrSuperseded<ErasedPage>>
}

export interface ErasedPage {
  readonly status: 'more' | 'erased'
  /** Queues and crons of this page. */
  readonly removed: number
}
