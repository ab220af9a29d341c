import type { RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import { StartupError, reasonOf } from '../../domain/errors.ts'
import { errorOfSilence } from './api-errors.ts'

/** How to reach an API server and as whom. */
export interface ClusterConfig {
  /** `https://…` without a slash at its end; may have a path. */
  readonly server: string
  /**
   * What a request needs now. Asked for every request: the token in a pod's file is at most 60 s old, the authority's
   * certificate as it stands in its file. Throws ResourceApiError when a file or a program that gives a token fails.
   */
  access(): Promise<ClusterAccess>
  /** Forgets every token read so far, after one has been refused. */
  renew(): void
}

export interface ClusterAccess {
  readonly headers: Readonly<Record<string, string>>
  readonly tls: ClusterTls
}

/** As of `tls.connect`; what is absent is Node's default. */
export interface ClusterTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}

/** What client-node answers when it finds nothing: a cluster that nobody has named. */
const NOTHING_FOUND = 'http://localhost:8080'

/**
 * The usual search of Kubernetes clients when no file is named: KUBECONFIG, `~/.kube/config`, then the pod's own
 * service account. Throws StartupError.
 */
export function loadClusterConfig(file: string | null): ClusterConfig {
  let kubeConfig = load(file)
  const server = serverOf(kubeConfig)
  return {
    server,
    access: async () => {
      const options: RequestOptions = {}
      try {
        // The other public way, applySecurityAuthentication, opens connections of its own for every request.
        await kubeConfig.applyToHTTPSOptions(options)
      } catch (error) {
        throw errorOfSilence('no credentials', error)
      }
      return { headers: headersOf(options), tls: tlsOf(options) }
    },
    renew: () => {
      try {
        kubeConfig = load(file)
      } catch {
        // The file is being replaced: what was read before stays, and is refused again until the next time.
      }
    },
  }
}

function load(file: string | null): KubeConfig {
  const kubeConfig = new KubeConfig()
  try {
    if (file === null) kubeConfig.loadFromDefault()
    else kubeConfig.loadFromFile(file)
  } catch (error) {
    throw new StartupError(`The kubeconfig cannot be read: ${reasonOf(error)}`, { cause: error })
  }
  return kubeConfig
}

function serverOf(kubeConfig: KubeConfig): string {
  const cluster = kubeConfig.getCurrentCluster()
  if (cluster === null || cluster.server === NOTHING_FOUND) {
    throw new StartupError('No cluster is named: run inside a pod, or set KUBECONFIG.')
  }
  const url = URL.parse(cluster.server)
  if (url === null || url.protocol !== 'https:') {
    throw new StartupError(`The API server's address must be https, not ${cluster.server}.`)
  }
  if (cluster.proxyUrl !== undefined && cluster.proxyUrl !== '') {
    throw new StartupError('A kubeconfig with a proxy-url is not supported.')
  }
  return cluster.server.replace(/\/+$/, '')
}

function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const given = Object.entries(headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value).trim(),
  ])
  const basic =
    typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {}
  return { ...basic, ...Object.fromEntries(given) }
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): ClusterTls {
  return {
    ...(ca === undefined ? {} : { ca: textOf(ca) }),
    ...(cert === undefined ? {} : { cert: textOf(cert) }),
    ...(key === undefined ? {} : { key: textOf(key) }),
    ...(servername === undefined ? {} : { servername }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  }
}

/** client-node puts a Buffer into each of them. */
function textOf(pem: unknown): string {
  return Buffer.isBuffer(pem) ? pem.toString('utf8') : ''
}
