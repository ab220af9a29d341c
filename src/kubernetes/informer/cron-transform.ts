import type { KubeObject } from '../../ports/resource-store.ts'

/** Shorter payloads and headers are kept: reading them from the API server costs more than the memory. */
const KEPT_BYTES_MAX = 1024

/**
 * Drops the payload and headers of a cron before the informer keeps it, unless they are short: each may have 256 KiB. A
 * reconciler reads them from the API server when it applies the cron; `leftOutBytes` is their size.
 */
export function transformCron(cron: KubeObject): KubeObject {
  const { spec } = cron as { spec?: { payload?: unknown; headers?: unknown } }
  if (typeof spec !== 'object' || spec === null) return cron
  const { payload, headers, ...rest } = spec
  const bytes = Buffer.byteLength(JSON.stringify([payload, headers]))
  return bytes <= KEPT_BYTES_MAX ? cron : ({ ...cron, spec: rest, leftOutBytes: bytes } as KubeObject)
}
