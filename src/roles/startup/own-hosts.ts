import { isLoopbackHost } from './loopback.ts'

/**
 * The hosts of URLs that lead to our own API. A job that called it could push the next such job, without end. Loopback
 * is left out: it is closed unless the installation opens it for its own targets.
 */
export function ownHostsOf(settings: {
  readonly publicUrl: string | null
  readonly egressOwnHosts: readonly string[]
}): readonly string[] {
  const { publicUrl, egressOwnHosts } = settings
  const hosts = [...egressOwnHosts, ...(publicUrl === null ? [] : [new URL(publicUrl).hostname])]
  return hosts.map((host) => host.replace(/\.$/, '')).filter((host) => !isLoopbackHost(host))
}
