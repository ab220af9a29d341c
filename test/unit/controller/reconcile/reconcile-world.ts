import { SECRET_POLL_MS } from '../../../../src/controller/secrets/secret-polls.ts'
import type { ConditionedObject } from '../../../../src/controller/kinds.ts'
import { ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { EventRecorder, Reconciler, ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import type { Orphans } from '../../../../src/controller/reconcile/resource-reconciler.ts'
import type { Clock, Logger } from '../../../../src/ports/runtime.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryEngine, type MemoryEngine } from '../memory-engine.ts'
import { createMemoryKind, type MemoryKind } from '../memory-kind.ts'

/** The process dies here. */
class Crash extends Error {}

/** Dies before or after the write of that number, from 0; counted over resources and engine. */
export interface PlannedCrash {
  readonly at: number
  readonly when: 'before' | 'after'
}

/** What every reconciler is built of. */
export interface WorldParts<T extends ConditionedObject> {
  readonly resources: MemoryKind<T>
  readonly engine: MemoryEngine
  readonly orphans: Orphans
  readonly events: EventRecorder
  readonly clock: Clock
  readonly logger: Logger
  readonly countLeftBehind: () => void
}

/** The resources of one kind and an engine, with a reconciler over them. */
export function createReconcileWorld<T extends ConditionedObject>(options: {
  readonly kind: string
  readonly indexes?: Readonly<Record<string, (object: T) => string>>
  readonly defaults: object
  readonly crash: PlannedCrash | null
  readonly start: (parts: WorldParts<T>) => Reconciler
}) {
  let crash = options.crash
  const state = { effects: 0, leftBehind: 0, sweepsRequested: 0, hasCrashed: false }
  const onEffect = (when: 'before' | 'after'): void => {
    const isNow = crash?.at === state.effects && crash.when === when
    if (when === 'after') state.effects += 1
    if (!isNow) return
    crash = null
    throw new Crash()
  }
  const { kind, indexes = {}, defaults } = options
  const resources = createMemoryKind<T>({ kind, indexes, defaults, onEffect })
  const engine = createMemoryEngine(onEffect)
  const clock = createFakeClock()
  const events: ResourceEvent[] = []
  const confirmedOrphans = new Set<string>()
  const start = () =>
    options.start({
      resources,
      engine,
      clock,
      logger: quietLogger,
      orphans: {
        request: () => void (state.sweepsRequested += 1),
        takeConfirmed: (key) => confirmedOrphans.delete(key),
      },
      events: { record: (event) => void events.push(event) },
      countLeftBehind: () => void (state.leftBehind += 1),
    })
  let reconciler = start()

  /** As the workqueue does it: an outage or a conflict is retried later. `polled`: it comes again to read Secrets. */
  async function reconcile(key: string): Promise<'done' | 'polled' | 'again' | 'failed'> {
    try {
      const { requeueAfterMs } = await reconciler.reconcile(key, new AbortController().signal)
      if (requeueAfterMs === null) return 'done'
      return requeueAfterMs >= SECRET_POLL_MS ? 'polled' : 'again'
    } catch (error) {
      if (error instanceof Crash) {
        reconciler = start()
        state.hasCrashed = true
        return 'failed'
      }
      if (error instanceof StoreUnavailableError || error instanceof ResourceApiError) return 'failed'
      throw error
    }
  }

  /** Reconciles until nothing more is written. */
  async function settle(key: string): Promise<void> {
    for (let tries = 0; tries < 20; tries += 1) {
      const before = state.effects
      const end = await reconcile(key)
      if ((end === 'done' || end === 'polled') && state.effects === before) return
    }
    throw new Error('it never settles')
  }

  return {
    resources,
    engine,
    clock,
    events,
    confirmedOrphans,
    state,
    reconcile,
    settle,
    status: (key: string): T['status'] | undefined => resources.get(key)?.status,
    condition: (key: string, wanted = 'Ready') =>
      resources.get(key)?.status?.conditions?.find(({ type }) => type === wanted),
  }
}
