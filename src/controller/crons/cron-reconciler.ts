import type { CronSettings } from '../../domain/crons/cron.ts'
import type { CronStatsEntry } from '../../ports/crons.ts'
import type { Informer, ObjectKey, ReconcileEnd, Reconciler, SecretReader } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import { isUnfinished } from '../../resources/cron-secret.ts'
import { CRON_FINALIZER, isDeleted } from '../../resources/finalizers.ts'
import { queueKey } from '../../resources/queue-owner.ts'
import { headerRefsOf, signingRefsOf } from '../../resources/secret-refs.ts'
import { BY_QUEUE, keyOf, refOf, type HttpCron } from '../kinds.ts'
import { FINALIZER_TIMEOUT_MS } from '../reconcile/finalizer-timeout.ts'
import {
  ResourceReconciler,
  type FinalizedKind,
  type FinalizedParts,
} from '../reconcile/resource-reconciler.ts'
import { CHANGE_PENDING, StatusWriter } from '../reconcile/status-writer.ts'
import { applyOwnSecrets, type OwnSecretRefs } from '../secrets/own-secrets.ts'
import type { SecretPolls } from '../secrets/secret-polls.ts'
import type { CronOutcome } from './cron-conditions.ts'
import { planCron, type CronJudges, type DesiredCron } from './cron-plan.ts'
import { cronStatus } from './cron-status.ts'

export interface CronReconcilerParts extends FinalizedParts<HttpCron>, CronJudges {
  readonly queues: Pick<Informer<KubeObject>, 'byIndex' | 'whenSynced'>
  readonly secrets: SecretReader
  readonly polls: SecretPolls
  /** Answers the state that was read last; null = none was read yet. */
  readonly stateOf: (key: ObjectKey) => CronStatsEntry | null
  readonly metrics: Pick<ControllerMetrics, 'cronLeftBehind' | 'statusWritten'>
}

/** An API process finishes a cron within seconds; clocks may differ by more. */
export const UNFINISHED_CRON_MS = 120_000

/** Keys are `namespace/name`, which also name the cron in Redis. */
export function createCronReconciler(parts: CronReconcilerParts): Reconciler {
  const { informer, writer, queues, engine, clock, metrics } = parts
  const status = new StatusWriter<HttpCron, CronOutcome>({
    ...parts,
    kind: 'HttpCron',
    action: 'ApplyCron',
    pending: (cron) => (isDeleted(cron) ? 'the cron is removed' : CHANGE_PENDING),
    statusOf: (cron, outcome) =>
      cronStatus(cron, outcome, {
        state: parts.stateOf(keyOf(cron)),
        isQueueFound: isQueueFound(queues, cron),
        wallMs: clock.wallMs(),
      }),
  })
  const kind: FinalizedKind<HttpCron, DesiredCron, CronOutcome> = {
    noun: 'cron',
    finalizer: CRON_FINALIZER,
    status,
    objectsOf: (key) => [informer.get(key)].filter((cron) => cron !== undefined),
    plan: async ([cron]) => {
      const plan = planCron(cron, parts)
      if (plan.kind !== 'apply' || plan.object.leftOutBytes === undefined) return plan
      // The informer leaves out large payloads, so the cron is read in full.
      const { namespace, name, uid } = plan.object.metadata
      const whole = await writer.read(namespace, name)
      return whole?.metadata.uid === uid ? planCron(whole, parts) : { kind: 'nothing' }
    },
    apply: async ({ metadata, spec, status: before }, { settings, overQuota }) => {
      const { namespace, name } = metadata
      const problem = await applyOwnSecrets(
        parts,
        { team: namespace, kind: 'cron', name },
        secretRefsOf(spec, settings),
      )
      if (problem !== null) return { ...problem, kind: 'secret' }
      // After a loss of data the cron gets back the id that its users know.
      const { cronId, nextRunAtMs } = await engine.write((compiler) =>
        compiler.applyCron(namespace, name, settings, before?.id ?? null),
      )
      return overQuota === null
        ? { kind: 'applied', cronId, nextRunAtMs }
        : { kind: 'over_quota', obstacle: overQuota }
    },
    remove: (compiler, { team, name }) => compiler.removeCron(team, name),
    leftBehind: {
      reason: 'CronLeftBehind',
      action: 'RemoveCron',
      note: `Redis could not be written to for ${FINALIZER_TIMEOUT_MS / 60_000} minutes: this resource is deleted now, and its cron keeps ticking until the controller finds it in Redis.`,
    },
    countLeftBehind: () => metrics.cronLeftBehind(),
    pollMs: (key, cron) => parts.polls.note({ kind: 'HttpCron', key }, cron === null ? 0 : secretsOf(cron)),
  }
  const reconciler = new ResourceReconciler(kind, parts)
  return {
    reconcile: async (key, signal) => {
      const unfinished = heldBack(informer.get(key))
      if (unfinished !== null) return awaitFinish(unfinished, parts)
      // Before the queues are synced, every one of them would seem to be missing.
      if (informer.get(key)?.spec.queue !== undefined) await queues.whenSynced(signal)
      return reconciler.reconcile(key, signal)
    },
  }
}

/** The cron, if its Secret may not be there yet and it was never applied. */
function heldBack(cron: HttpCron | undefined): HttpCron | null {
  const isHeld = cron !== undefined && isUnfinished(cron) && !isDeleted(cron) && cron.status?.id === undefined
  return isHeld ? cron : null
}

/** Deletes a cron whose maker has died: nobody was told that there is one. Its Secret, if there is any, goes with it. */
async function awaitFinish(
  cron: HttpCron,
  { writer, clock, logger }: CronReconcilerParts,
): Promise<ReconcileEnd> {
  const { namespace: team, name, creationTimestamp } = cron.metadata
  const leftMs = Date.parse(creationTimestamp) + UNFINISHED_CRON_MS - clock.wallMs()
  if (leftMs > 0) return { requeueAfterMs: leftMs }
  await writer.remove(refOf(cron))
  logger.warn('A cron was deleted whose creation an API process did not finish', { team, cron: name })
  return { requeueAfterMs: null }
}

function isQueueFound(
  queues: CronReconcilerParts['queues'],
  { metadata: { namespace }, spec: { queue } }: HttpCron,
): boolean {
  return queue !== undefined && queues.byIndex(BY_QUEUE, queueKey(namespace, queue)).length > 0
}

function secretRefsOf(spec: HttpCron['spec'], { headers, url }: CronSettings): OwnSecretRefs {
  return { signing: signingRefsOf(spec), headers: headerRefsOf(headers), url }
}

/** Counts the Secrets that the cron names. Each is read once, however many of its keys are named. */
function secretsOf({ spec }: HttpCron): number {
  const inHeaders = spec.headers.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])
  return new Set([...signingRefsOf(spec), ...inHeaders].map(({ name }) => name)).size
}
