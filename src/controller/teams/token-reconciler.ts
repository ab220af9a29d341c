import { StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type {
  EventRecorder,
  ObjectKey,
  ReconcileEnd,
  Reconciler,
  Informer,
  ResourceWriter,
} from '../../ports/kubernetes.ts'
import { isSameStatus, mergeConditions } from '../../resources/conditions.ts'
import type { WantedCondition } from '../../resources/conditions.ts'
import { placeOfKey } from '../../resources/queue-owner.ts'
import { engineAway } from '../reconcile/engine-away.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import { refOf, type ApiToken } from '../kinds.ts'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'

/** Index of the view of tokens: their hash. */
export const BY_HASH = 'hash'

export interface TokenReconcilerParts {
  readonly view: Pick<Informer<ApiToken>, 'get' | 'byIndex'>
  readonly writer: Pick<ResourceWriter<ApiToken>, 'read' | 'applyStatus'>
  readonly engine: Pick<LeaderSession, 'write' | 'obstacle'>
  readonly events: EventRecorder
  readonly clock: Clock
  readonly metrics: Pick<ControllerMetrics, 'statusWritten'>
}

/** Keys are `namespace/name`. */
export function createTokenReconciler(parts: TokenReconcilerParts): Reconciler {
  async function reconcile(key: ObjectKey): Promise<ReconcileEnd> {
    const token = parts.view.get(key)
    if (token === undefined || token.metadata.deletionTimestamp !== undefined) await revoke(parts, key)
    else await accept(parts, token)
    return { requeueAfterMs: null }
  }
  return { reconcile }
}

type Wanted = WantedCondition<'ApiToken'>

const IN_FORCE: Wanted = {
  type: 'Ready',
  status: 'True',
  reason: 'Reconciled',
  message: 'The token is accepted.',
}
const TAKEN: Wanted = {
  type: 'Ready',
  status: 'False',
  reason: 'HashTaken',
  message: 'Another, older ApiToken has this hash: the token counts for its team, not for this one.',
}

/**
 * A token belongs to one team. Of two resources with one hash the older counts, so that nobody draws another team's
 * pushes to themselves by its hash; which one it is, is not said to who may not know.
 */
async function accept(parts: TokenReconcilerParts, token: ApiToken): Promise<void> {
  const { namespace, name } = token.metadata
  const { sha256 } = token.spec
  const [oldest] = parts.view.byIndex(BY_HASH, sha256).toSorted(byAge)
  if (oldest !== undefined && oldest.metadata.uid !== token.metadata.uid) {
    await parts.engine.write((compiler) => compiler.removeToken(namespace, name))
    return tell(parts, token, [TAKEN])
  }
  try {
    await parts.engine.write((compiler) => compiler.putTokenHash(namespace, name, sha256))
  } catch (error) {
    if (error instanceof StoreUnavailableError) {
      const message = engineAway(parts.engine, 'the token is accepted')
      await tell(parts, token, [
        { type: 'Ready', status: 'Unknown', reason: 'BackendUnavailable', message },
        { type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry', message },
      ])
    }
    throw error
  }
  await tell(parts, token, [IN_FORCE])
}

/** Only on the word of the API server itself: a copy that was emptied by mistake must not lock everybody out. */
async function revoke({ writer, engine }: TokenReconcilerParts, key: ObjectKey): Promise<void> {
  const { team, name } = placeOfKey(key)
  const found = await writer.read(team, name)
  if (found !== null && found.metadata.deletionTimestamp === undefined) return
  await engine.write((compiler) => compiler.removeToken(team, name))
}

async function tell(parts: TokenReconcilerParts, token: ApiToken, wanted: readonly Wanted[]): Promise<void> {
  const generation = token.metadata.generation ?? 0
  const seen = { generation, wallMs: parts.clock.wallMs() }
  const conditions = mergeConditions<'ApiToken'>(token.status?.conditions ?? [], wanted, seen)
  const status = { observedGeneration: generation, conditions }
  if (isSameStatus(token.status, status)) return
  await ignoreNotFound(() => parts.writer.applyStatus(refOf(token), status))
  parts.metrics.statusWritten('ApiToken')
  if (!wanted.includes(TAKEN)) return
  const { reason, message: note } = TAKEN
  parts.events.record({ regarding: refOf(token), type: 'Warning', reason, action: 'AcceptToken', note })
}

function byAge(left: ApiToken, right: ApiToken): number {
  const ages = Date.parse(left.metadata.creationTimestamp) - Date.parse(right.metadata.creationTimestamp)
  return ages !== 0 ? ages : left.metadata.uid < right.metadata.uid ? -1 : 1
}
