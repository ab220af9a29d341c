import { createCronCheck } from '../../../../src/controller/crons/cron-check.ts'
import { createCronReconciler } from '../../../../src/controller/crons/cron-reconciler.ts'
import type { HttpCron } from '../../../../src/controller/kinds.ts'
import { DEFAULT_CRON_SETTINGS } from '../../../../src/domain/crons/cron.ts'
import { ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { CronState } from '../../../../src/ports/crons.ts'
import type { ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import { specOfCronSettings } from '../../../../src/resources/cron-spec.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryEngine } from '../memory-engine.ts'
import { createMemoryKind } from '../memory-kind.ts'
import { Crash } from '../queues/queue-world.ts'

/** As the API server fills them in. */
const present = Object.entries(specOfCronSettings(DEFAULT_CRON_SETTINGS)).filter(
  ([, value]) => value !== null,
)
export const CRON_DEFAULTS = {
  ...Object.fromEntries(present),
  url: 'https://a.test',
  cronExpression: '0 3 * * *',
}

/** Compiled once: it keeps nothing. */
const check = createCronCheck()

/**
 * One team's crons, resources and engine, with a reconciler over them.
 * @param crash dies before or after the write of that number, from 0; counted over resources and engine
 */
export function createCronWorld(crash: { at: number; when: 'before' | 'after' } | null = null) {
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
  const crons = createMemoryKind<HttpCron>({
    kind: 'HttpCron',
    indexes: {},
    defaults: CRON_DEFAULTS,
    onEffect,
  })
  const engine = createMemoryEngine(onEffect)
  const events: ResourceEvent[] = []
  const noted: string[] = []
  const doomed = new Set<string>()
  const states = new Map<string, CronState>()
  const found = {
    leftBehind: 0,
    hasCrashed: false,
    obstacle: null as string | null,
    /** The view shows a copy without the payload. */
    isLean: false,
    /** The API server has another cron of the name by now. */
    isSuccessor: false,
  }
  const shown = (cron: HttpCron | undefined): HttpCron | undefined => {
    if (cron === undefined || !found.isLean) return cron
    const { payload = '', ...spec } = cron.spec
    return { ...cron, spec, leftOutBytes: payload.length }
  }
  const start = () =>
    createCronReconciler({
      view: { get: (key) => shown(crons.view.get(key)) },
      writer: {
        ...crons.writer,
        read: async (namespace, name) => {
          const cron = await crons.writer.read(namespace, name)
          return cron === null || !found.isSuccessor
            ? cron
            : { ...cron, metadata: { ...cron.metadata, uid: 'of a successor' } }
        },
      },
      check,
      room: { obstacle: () => found.obstacle },
      engine,
      stateOf: (key) => states.get(key) ?? null,
      vanished: { note: (key) => void noted.push(key), takeDoomed: (key) => doomed.delete(key) },
      events: { record: (event) => void events.push(event) },
      clock,
      logger: quietLogger,
      metrics: { cronLeftBehind: () => void (found.leftBehind += 1), statusWritten: () => undefined },
    })
  let reconciler = start()

  /** One turn, as the runner gives it: what fails for an outage or by a stale copy is tried again later. */
  async function turn(key: string): Promise<'done' | 'failed'> {
    try {
      await reconciler.reconcile(key, new AbortController().signal)
      return 'done'
    } catch (error) {
      if (error instanceof Crash) {
        reconciler = start()
        found.hasCrashed = true
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
    ...{ crons, engine, events, noted, doomed, states, clock, found, turn, settle },
    status: (key: string) => crons.get(key)?.status,
    condition: (key: string, wanted: string) =>
      crons.get(key)?.status?.conditions?.find(({ type }) => type === wanted),
  }
}
