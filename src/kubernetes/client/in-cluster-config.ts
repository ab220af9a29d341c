import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../../ports/runtime.ts'
import { errorOfSilence } from './api-errors.ts'
import type { ClusterConfig } from './cluster-config.ts'

/** What Kubernetes tells every pod about its API server. */
export interface PodPlace {
  readonly apiServerHost: string
  readonly apiServerPort: string
  /** Holds `token` and `ca.crt`, which are replaced from time to time. */
  readonly accountFolder: string
}

/** As client-go: the kubelet replaces a token long before it is refused. */
const TOKEN_KEPT_MS = 60_000

/**
 * The way of a pod to its API server, as its own service account. Not by client-node: to load it for this alone costs
 * each process 78 MiB and a second of CPU.
 */
export function inClusterConfig(place: PodPlace, clock: Clock): ClusterConfig {
  const { apiServerHost: host, apiServerPort: port } = place
  const read = (name: string) => readAccountFile(join(place.accountFolder, name))
  let known: { readonly token: string; readonly readAtMs: number } | null = null
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    access: async () => {
      const nowMs = clock.monotonicMs()
      if (known === null || nowMs - known.readAtMs > TOKEN_KEPT_MS) {
        known = { token: read('token').trim(), readAtMs: nowMs }
      }
      const { token } = known
      return { headers: { authorization: `Bearer ${token}` }, tls: { ca: read('ca.crt') } }
    },
    renew: () => {
      known = null
    },
  }
}

/** At once: a promise for each of two small files would be an eighth of what a request costs us. */
function readAccountFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw errorOfSilence('no credentials', error)
  }
}
