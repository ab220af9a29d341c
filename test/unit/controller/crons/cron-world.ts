import { SecretPolls } from '../../../../src/controller/secrets/secret-polls.ts'
import { createFakeSecrets } from '../fake-secrets.ts'
import { createCronCheck, type CronProblem } from '../../../../src/controller/crons/cron-check.ts'
import { createCronReconciler } from '../../../../src/controller/crons/cron-reconciler.ts'
import type { HttpCron } from '../../../../src/controller/kinds.ts'
import { DEFAULT_CRON_SETTINGS } from '../../../../src/domain/crons/cron.ts'
import type { CronStatsEntry } from '../../../../src/ports/crons.ts'
import { specOfCronSettings } from '../../../../src/resources/cron-spec.ts'
import { kubeObject } from '../../kubernetes/kube-objects.ts'
import { createReconcileWorld, type PlannedCrash } from '../reconcile/reconcile-world.ts'

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

/** One team's crons. */
export function createCronWorld(crash: PlannedCrash | null = null) {
  const states = new Map<string, CronStatsEntry>()
  const found = {
    obstacle: null as string | null,
    /** The egress policy refuses the target. */
    blocked: null as CronProblem | null,
    /** Queue names, of the team. */
    queues: new Set<string>(),
    /** The informer has copies without the payload. */
    isLean: false,
    /** The API server has another cron of the name by now. */
    isSuccessor: false,
  }
  const shown = (cron: HttpCron | undefined): HttpCron | undefined => {
    if (cron === undefined || !found.isLean) return cron
    const { payload = '', ...spec } = cron.spec
    return { ...cron, spec, leftOutBytes: payload.length }
  }
  /** The team over whose resources the check throws. */
  const planted = { team: '' }
  const secrets = createFakeSecrets()
  const polls = new SecretPolls()
  const world = createReconcileWorld<HttpCron>({
    kind: 'HttpCron',
    defaults: CRON_DEFAULTS,
    crash,
    start: ({ resources: { informer, writer }, countLeftBehind, ...parts }) =>
      createCronReconciler({
        ...parts,
        informer: { ...informer, get: (key) => shown(informer.get(key)) },
        writer: {
          ...writer,
          applyStatus: (...status) => writer.applyStatus(...status),
          read: async (namespace, name) => {
            const cron = await writer.read(namespace, name)
            return cron === null || !found.isSuccessor
              ? cron
              : { ...cron, metadata: { ...cron.metadata, uid: 'of a successor' } }
          },
        },
        check: (object) => {
          if (object.metadata.namespace === planted.team) throw new RangeError('planted')
          return check(object)
        },
        secrets: secrets.reader,
        polls,
        quota: { obstacle: () => found.obstacle },
        targets: { obstacle: () => found.blocked },
        queues: {
          whenSynced: () => Promise.resolve(),
          byIndex: (_index, key) => (found.queues.has(key) ? [kubeObject({ name: 'q' })] : []),
        },
        stateOf: (key) => states.get(key) ?? null,
        metrics: { cronLeftBehind: countLeftBehind, statusWritten: () => undefined },
      }),
  })
  return { ...world, secrets, polls, states, found, planted }
}
