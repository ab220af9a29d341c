import type { KubeObject } from '../../ports/kubernetes.ts'

/** What is shorter stays in the copy: to read it from the API server costs more than to keep it. */
const KEPT_BYTES_MAX = 1024

/**
 * A cron as a copy of all of them keeps it: without its payload and headers, unless these are short. They are as long
 * as 256 KiB each, and a controller reads them when it puts the cron in force. How long they are stands in
 * `leftOutBytes`.
 */
export function transformCron(cron: KubeObject): KubeObject {
  const { spec } = cron as { spec?: { payload?: unknown; headers?: unknown } }
  if (typeof spec !== 'object' || spec === null) return cron
  const { payload, headers, ...rest } = spec
  const bytes = Buffer.byteLength(JSON.stringify([payload, headers]))
  return bytes <= KEPT_BYTES_MAX ? cron : ({ ...cron, spec: rest, leftOutBytes: bytes } as KubeObject)
}
