/** How to reach an API server, and which credentials to use. */
export interface ClusterConfig {
  /** An `https://` URL without a trailing slash, which may have a path. */
  readonly server: string
  /**
   * Answers the credentials of a request, and is called for each. A token is at most 60 s older than its file, and the
   * CA certificate is always that of its file. Throws ResourceApiError when a file cannot be read or a credential
   * plugin fails.
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
