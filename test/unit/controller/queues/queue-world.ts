import { SecretPolls } from '../../../../src/controller/secrets/secret-polls.ts'
import { createFakeSecrets } from '../fake-secrets.ts'
import type { EngineLoss } from '../../../../src/controller/engine/engine-loss.ts'
import { BY_QUEUE, type HttpQueue } from '../../../../src/controller/kinds.ts'
import { createQueueCheck } from '../../../../src/controller/queues/queue-check.ts'
import { createQueueReconciler } from '../../../../src/controller/queues/queue-reconciler.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { QueueStatsEntry } from '../../../../src/ports/queues.ts'
import { queueKeyOf } from '../../../../src/resources/queue-owner.ts'
import { specOfSettings } from '../../../../src/resources/queue-spec.ts'
import { createReconcileWorld, type PlannedCrash } from '../reconcile/reconcile-world.ts'

export const QUEUE_DEFAULTS = specOfSettings({ ...DEFAULT_QUEUE_SETTINGS })
export const QUEUE_INDEXES = { [BY_QUEUE]: (queue: HttpQueue) => queueKeyOf(queue) }

/** Compiled once: it keeps nothing. */
const check = createQueueCheck()

/** One team's queues. */
export function createQueueWorld(crash: PlannedCrash | null = null) {
  const stats = new Map<string, QueueStatsEntry>()
  /** What Redis would count, read when the reconciler asks. */
  const counted = new Map<string, QueueStatsEntry>()
  const engineState = { loss: null as EngineLoss | null, risks: [] as string[] }
  /** `missing`: the key of a resource that only the informer still has. */
  const apiServer = { missing: '' }
  /** The team over whose resources the check throws. */
  const planted = { team: '' }
  const secrets = createFakeSecrets()
  const polls = new SecretPolls()
  const world = createReconcileWorld<HttpQueue>({
    kind: 'HttpQueue',
    indexes: QUEUE_INDEXES,
    defaults: QUEUE_DEFAULTS,
    crash,
    start: ({ resources: { informer, writer }, engine, countLeftBehind, ...parts }) =>
      createQueueReconciler({
        ...parts,
        informer,
        writer: {
          ...writer,
          applyStatus: (...status) => writer.applyStatus(...status),
          read: async (namespace, name) =>
            apiServer.missing === `${namespace}/${name}` ? null : writer.read(namespace, name),
        },
        check: (object) => {
          if (object.metadata.namespace === planted.team) throw new RangeError('planted')
          return check(object)
        },
        secrets: secrets.reader,
        polls,
        engine: { write: engine.write, loss: () => engineState.loss, obstacle: engine.obstacle },
        safety: { risks: () => engineState.risks },
        statsOf: (key) => stats.get(key) ?? null,
        readStats: async (key) => {
          const known = counted.get(key)
          if (known !== undefined) stats.set(key, known)
        },
        metrics: { queueLeftBehind: countLeftBehind, statusWritten: () => undefined },
      }),
  })
  return { ...world, secrets, polls, stats, counted, engineState, apiServer, planted }
}
