import { ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { createQueueCheck } from '../../../../src/controller/queues/queue-check.ts'
import { createQueueReconciler } from '../../../../src/controller/queues/queue-reconciler.ts'
import type { EngineLoss } from '../../../../src/controller/engine/engine-loss.ts'
import { BY_QUEUE, type HttpQueue } from '../../../../src/controller/kinds.ts'
import type { ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import type { QueueStatsEntry } from '../../../../src/ports/queues.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { queueKeyOf } from '../../../../src/resources/queue-owner.ts'
import { specOfSettings } from '../../../../src/resources/queue-spec.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryEngine } from '../memory-engine.ts'
import { createMemoryKind } from '../memory-kind.ts'

export const QUEUE_DEFAULTS = specOfSettings({ ...DEFAULT_QUEUE_SETTINGS })
export const QUEUE_INDEXES = { [BY_QUEUE]: (queue: HttpQueue) => queueKeyOf(queue) }

/** Compiled once: it keeps nothing. */
const check = createQueueCheck()

/** The process dies here. */
export class Crash extends Error {}

/**
 * One team's queues, resources and engine, with a reconciler over them.
 * @param crash dies before or after the write of that number, from 0; counted over resources and engine
 */
export function createQueueWorld(crash: { at: number; when: 'before' | 'after' } | null = null) {
  let effects = 0
  let plannedCrash = crash
  const onEffect = (when: 'before' | 'after'): void => {
    const isNow = plannedCrash?.at === effects && plannedCrash.when === when
    if (when === 'after') effects += 1
    if (!isNow) return
    plannedCrash = null
    throw new Crash()
  }
  const clock = createFakeClock()
  const queues = createMemoryKind<HttpQueue>({
    kind: 'HttpQueue',
    indexes: QUEUE_INDEXES,
    defaults: QUEUE_DEFAULTS,
    onEffect,
  })
  const engine = createMemoryEngine(onEffect)
  const events: ResourceEvent[] = []
  const noted: string[] = []
  const doomed = new Set<string>()
  const counts = new Map<string, QueueStatsEntry>()
  const state = {
    loss: null as EngineLoss | null,
    leftBehind: 0,
    hasCrashed: false,
    /** The key of a resource that the view still shows. */
    isGoneAtServer: '',
  }
  const start = () =>
    createQueueReconciler({
      view: queues.view,
      writer: {
        ...queues.writer,
        read: (namespace, name) =>
          state.isGoneAtServer === `${namespace}/${name}`
            ? Promise.resolve(null)
            : queues.writer.read(namespace, name),
      },
      check,
      engine: { write: engine.write, loss: () => state.loss, obstacle: engine.obstacle },
      countsOf: (key) => counts.get(key) ?? null,
      vanished: { note: (key) => void noted.push(key), takeDoomed: (key) => doomed.delete(key) },
      events: { record: (event) => void events.push(event) },
      clock,
      logger: quietLogger,
      metrics: { queueLeftBehind: () => void (state.leftBehind += 1), statusWritten: () => undefined },
    })
  let reconciler = start()

  /** One turn, as the runner gives it: what fails for an outage or by an old copy is tried again later. */
  async function turn(key: string): Promise<'done' | 'again' | 'failed'> {
    try {
      const { requeueAfterMs } = await reconciler.reconcile(key, new AbortController().signal)
      return requeueAfterMs === null ? 'done' : 'again'
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

  /** Turns until nothing is written any more. */
  async function settle(key: string): Promise<void> {
    for (let turns = 0; turns < 20; turns += 1) {
      const before = effects
      const end = await turn(key)
      if (end === 'done' && effects === before) return
    }
    throw new Error('it does not come to rest')
  }

  return {
    queues,
    engine,
    events,
    noted,
    doomed,
    counts,
    clock,
    state,
    turn,
    settle,
    restart: () => void (reconciler = start()),
    get effects() {
      return effects
    },
    ready: (key: string) => queues.get(key)?.status?.conditions?.find(({ type }) => type === 'Ready'),
  }
}
