import type { CronStatsEntry, CronStats } from '../../ports/crons.ts'
import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { parseKey } from '../../resources/queue-owner.ts'
import { keyOf, type HttpCron } from '../kinds.ts'
import { StatusSync } from '../reconcile/status-sync.ts'
import { isStaleCronStatus } from './cron-status.ts'

/** Reads the next and last runs of all crons that have a resource. */
export function createCronStatusSync(parts: {
  readonly informer: Pick<Informer<HttpCron>, 'all' | 'get'>
  readonly cronStats: Pick<CronStats, 'read'>
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
}): StatusSync<CronStatsEntry> {
  const { informer, cronStats } = parts
  return new StatusSync({
    ...parts,
    keys: () => [...informer.all()].map(keyOf),
    read: (keys) => cronStats.read(keys.map(parseKey)),
    isStale: (key, state) => isStaleCronStatus(informer.get(key)?.status, state),
    failure: 'The states of crons could not be read',
  })
}
