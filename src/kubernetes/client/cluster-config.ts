/** How to reach an API server, and as whom. */
export interface ClusterConfig {
  /** `https://…` without a trailing slash; may have a path. */
  readonly server: string
  /**
   * Called for every request. A token is at most 60 s older than its file, the CA certificate is that of its file. Throws
   * ResourceApiError when a file cannot be read or a credential plugin fails.
   */
  access(): Promise<ClusterAccess>
  /** Drops cached tokens, after the server has refused one. */
  renew(): void
}

export interface ClusterAccess {
  readonly headers: Readonly<Record<string, string>>
  readonly tls: ClusterTls
}

/** Options of `tls.connect`; Node's defaults where absent. */
export interface ClusterTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}
