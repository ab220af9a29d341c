import type { RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import { StartupError, reasonOf } from '../../domain/errors.ts'
import { errorOfSilence } from './api-errors.ts'
import type { ClusterConfig, ClusterTls } from './cluster-config.ts'

/** The server that client-node makes up when it finds no configuration. */
const NOTHING_FOUND = 'http://localhost:8080'

/**
 * Without a file, follows the search order of Kubernetes clients: KUBECONFIG, `~/.kube/config`, the pod's service
 * account. Throws StartupError.
 */
export function loadKubeconfig(file: string | null): ClusterConfig {
  let kubeConfig = load(file)
  const server = serverOf(kubeConfig)
  return {
    server,
    access: async () => {
      const options: RequestOptions = {}
      try {
        // The alternative, applySecurityAuthentication, would open new connections for every request.
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
        // The file is just being replaced: keep the old credentials until the next refusal.
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
    ...textsOf({ ca, cert, key }),
    ...(servername === undefined ? {} : { servername }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  }
}

/** client-node gives Buffers. */
function textsOf(pems: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(pems).flatMap(([name, pem]) => (Buffer.isBuffer(pem) ? [[name, pem.toString()]] : [])),
  )
}
