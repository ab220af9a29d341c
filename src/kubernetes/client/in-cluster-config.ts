import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../../ports/runtime.ts'
import { errorOfSilence } from './api-errors.ts'
import type { ClusterConfig } from './cluster-config.ts'

/** What Kubernetes gives to every pod. */
export interface PodEnvironment {
  readonly apiServerHost: string
  readonly apiServerPort: string
  /** The folder of `token` and `ca.crt`, which the kubelet rotates. */
  readonly accountFolder: string
}

/** The kubelet replaces a token long before it expires. client-go reads it as often. */
const TOKEN_MAX_AGE_MS = 60_000

/**
 * Gives a pod access to its API server by its service account. client-node is not used, as loading it would cost each
 * process 78 MiB and a second of CPU.
 */
export function inClusterConfig(pod: PodEnvironment, clock: Clock): ClusterConfig {
  const { apiServerHost: host, apiServerPort: port, accountFolder } = pod
  const read = (name: string) => readAccountFile(join(accountFolder, name))
  let cached: { readonly token: string; readonly readAtMs: number } | null = null
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    access: async () => {
      const nowMs = clock.monotonicMs()
      if (cached === null || nowMs - cached.readAtMs > TOKEN_MAX_AGE_MS) {
        cached = { token: read('token').trim(), readAtMs: nowMs }
      }
      const { token } = cached
      return { headers: { authorization: `Bearer ${token}` }, tls: { ca: read('ca.crt') } }
    },
    renew: () => {
      cached = null
    },
  }
}

/** Reads synchronously: promises for two small files would add an eighth to the cost of a request. */
function readAccountFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw errorOfSilence('no credentials', error)
  }
}
