import { ResourceApiError } from '../../domain/errors.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { StoreSafety } from '../../ports/health.ts'
import type { ObjectKey, Reconciler, ResourceWriter, SecretReader } from '../../ports/kubernetes.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type { QueueStatsEntry } from '../../ports/queues.ts'
import { holdsFinalizer, isDeleted, QUEUE_FINALIZER } from '../../resources/finalizers.ts'
import { queueKeyOf, queueNameOf } from '../../resources/queue-owner.ts'
import { signingRefsOf } from '../../resources/secret-refs.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import { BY_QUEUE, refOf, type HttpQueue } from '../kinds.ts'
import { FINALIZER_TIMEOUT_MS } from '../reconcile/finalizer-timeout.ts'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import {
  ResourceReconciler,
  type FinalizedKind,
  type FinalizedParts,
} from '../reconcile/resource-reconciler.ts'
import { CHANGE_PENDING, StatusWriter } from '../reconcile/status-writer.ts'
import { applyOwnSecrets } from '../secrets/own-secrets.ts'
import type { SecretPolls } from '../secrets/secret-polls.ts'
import type { QueueCheck } from './queue-check.ts'
import type { QueueOutcome } from './queue-conditions.ts'
import { endOfRival, givesWay, planQueue, type QueuePlan } from './queue-plan.ts'
import { queueStatus } from './queue-status.ts'

export interface QueueReconcilerParts extends FinalizedParts<HttpQueue> {
  readonly check: QueueCheck
  readonly secrets: SecretReader
  readonly polls: SecretPolls
  readonly engine: Pick<LeaderSession, 'write' | 'loss' | 'obstacle'>
  readonly safety: Pick<StoreSafety, 'risks'>
  /** Answers the stats that were read last; null = none were read yet. */
  readonly statsOf: (key: ObjectKey) => QueueStatsEntry | null
  /** Reads the stats now. Never throws. */
  readonly readStats: (key: ObjectKey) => Promise<void>
  readonly metrics: Pick<ControllerMetrics, 'queueLeftBehind' | 'statusWritten'>
}

/**
 * Keys are those of `queueKeyOf`: all resources with one queue name are reconciled together, so that no other reconcile
 * sees them while the name passes from one to another.
 */
export function createQueueReconciler(parts: QueueReconcilerParts): Reconciler {
  const { informer, check, engine, clock, metrics } = parts
  const status = new StatusWriter<HttpQueue, QueueOutcome>({
    ...parts,
    kind: 'HttpQueue',
    action: 'ApplyQueue',
    pending: (queue) => (isDeleted(queue) ? 'the queue and its jobs are removed' : CHANGE_PENDING),
    statusOf: (queue, outcome) =>
      queueStatus(queue, outcome, {
        stats: parts.statsOf(queueKeyOf(queue)),
        loss: engine.loss(),
        risks: parts.safety.risks(),
        wallMs: clock.wallMs(),
      }),
  })
  const kind: FinalizedKind<HttpQueue, QueueSettings, QueueOutcome> = {
    noun: 'queue',
    finalizer: QUEUE_FINALIZER,
    status,
    objectsOf: (key) => informer.byIndex(BY_QUEUE, key),
    plan: (resources) => planQueue(resources, check),
    apply: async (queue, settings) => {
      const { namespace } = queue.metadata
      const owner = { team: namespace, kind: 'queue', name: queueNameOf(queue) } as const
      const refs = { signing: signingRefsOf(queue.spec), headers: [], url: null }
      const problem = await applyOwnSecrets(parts, owner, refs)
      if (problem !== null) return { ...problem, kind: 'secret' }
      const { queueId } = await engine.write((compiler) =>
        compiler.applyQueue(namespace, owner.name, settings),
      )
      const key = queueKeyOf(queue)
      // A queue that is new to us shows its counts from its first status on.
      if (parts.statsOf(key)?.queueId !== queueId) await parts.readStats(key)
      return { kind: 'applied', queueId }
    },
    defersStatus: ({ metadata, status: before }, outcome) =>
      outcome.kind === 'applied' &&
      (before?.observedGeneration !== metadata.generation || before?.queueId !== outcome.queueId),
    remove: (compiler, { team, name }) => compiler.removeQueue(team, name),
    settleOthers: async ({ objects, plan, signal }) => {
      for (const rival of objects) {
        if (signal.aborted) break
        if (rival !== plan.object) await settleRival({ ...parts, status }, { rival, plan })
      }
    },
    leftBehind: {
      reason: 'JobsLeftBehind',
      action: 'RemoveQueue',
      note: `Redis could not be written to for ${FINALIZER_TIMEOUT_MS / 60_000} minutes: this resource is deleted now, and its queue and jobs are removed once Redis can be written to.`,
    },
    countLeftBehind: () => metrics.queueLeftBehind(),
    pollMs: (key, queue) =>
      parts.polls.note({ kind: 'HttpQueue', key }, queue === null ? 0 : secretsOf(queue)),
  }
  return new ResourceReconciler(kind, parts)
}

/** Counts the Secrets that the queue names. */
function secretsOf({ spec }: HttpQueue): number {
  return new Set(signingRefsOf(spec).map(({ name }) => name)).size
}

async function settleRival(
  parts: QueueReconcilerParts & { readonly status: StatusWriter<HttpQueue, QueueOutcome> },
  { rival, plan }: { readonly rival: HttpQueue; readonly plan: QueuePlan },
): Promise<void> {
  const { writer, status, logger } = parts
  const { namespace: team, name: by } = plan.object.metadata
  const end = endOfRival(rival, plan)
  if (end === 'nothing') return
  if (end === 'report') {
    return status.write(rival, { kind: 'name_taken', by, isPushed: givesWay(rival, plan.object) })
  }
  await confirmOwner(writer, plan)
  // The finalizer goes before the deletion: a deleted resource that has the finalizer and is alone takes queue and jobs
  // with it.
  await ignoreNotFound(writer.setFinalizer(rival, QUEUE_FINALIZER, false))
  if (end === 'release') return
  await writer.remove(refOf(rival))
  logger.info('A pushed queue was taken over', { team, by, from: rival.metadata.name })
}

/**
 * Once the finalizer of a rival is removed, only the owner stands for the queue and its jobs. The informer may be
 * behind, so the API server itself must have the owner. Throws ResourceApiError.
 */
async function confirmOwner(
  writer: Pick<ResourceWriter<HttpQueue>, 'read'>,
  { kind, object }: QueuePlan,
): Promise<void> {
  if (kind === 'remove') return
  const { namespace, name, uid } = object.metadata
  const found = await writer.read(namespace, name)
  const isThere = found !== null && found.metadata.uid === uid && !isDeleted(found)
  if (isThere && (kind === 'refuse' || holdsFinalizer(found, QUEUE_FINALIZER))) return
  throw new ResourceApiError('conflict', `HttpQueue ${name} has changed since it was read`)
}
