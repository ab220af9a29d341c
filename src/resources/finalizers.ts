/** Keeps a deleted HttpQueue until its queue and jobs are removed from Redis. */
export const QUEUE_FINALIZER = 'punctual.dev/queue'
/** Keeps a deleted HttpCron until its cron is removed from Redis. */
export const CRON_FINALIZER = 'punctual.dev/cron'

interface Deletable {
  readonly metadata: { readonly deletionTimestamp?: string; readonly finalizers?: readonly string[] }
}

export function isDeleted({ metadata }: Deletable): boolean {
  return metadata.deletionTimestamp !== undefined
}

export function holdsFinalizer({ metadata }: Deletable, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true
}
