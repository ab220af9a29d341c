import type { RequestListener } from 'node:http'
import { ApiServer } from '../../api/api-server.ts'
import { createApi } from '../../api/create-api.ts'
import { StartupError } from '../../domain/errors.ts'
import { listenFailure } from '../../domain/net/listen-address.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import type { CronEditor, CronStore } from '../../ports/crons.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { QueueEditor, QueueStore } from '../../ports/queues.ts'
import type { CompiledSettings } from '../../redis/control/compiled-settings.ts'
import { createJobIntake } from '../../redis/enqueue/job-intake.ts'
import { createJobStore } from '../../redis/jobs/job-store.ts'
import { createQuotaKeeper } from '../../redis/quotas/quota-keeper.ts'
import { createTeamUsageReader } from '../../redis/quotas/team-usage.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import { createQuotasOf, withQuotas } from './quota-part.ts'
import type { Store } from './store.ts'

/** Answers still being written at a stop get this long. */
const CLOSE_GRACE_MS = 5_000

/** Starts the API on a store; answers its port. It stops taking requests with the lifecycle. */
export async function startApi(options: {
  host: string
  port: number
  store: Store
  queues: QueueStore
  editor: QueueEditor
  crons: CronStore
  cronEditor: CronEditor
  settings: CompiledSettings
  /** The installation's. */
  quotas: TeamQuotas
  egress: EgressPolicy
  fallback?: RequestListener
  limits: { readonly maxConnections: number; readonly intakeBytes: number }
  /** How long it serves on at a stop; 0 when left out. */
  drainMs?: number
  logger: Logger
  lifecycle: Lifecycle
}): Promise<number> {
  const { engine } = options.store
  const quotasOf = createQuotasOf(options.settings, options.quotas)
  const usage = createTeamUsageReader(engine)
  const listener = createApi({
    intake: createJobIntake(engine, {
      nowMs: () => systemClock.monotonicMs(),
      quotas: createQuotaKeeper({ engine, clock: systemClock, quotasOf }),
    }),
    ...withQuotas(
      { crons: options.crons, cronEditor: options.cronEditor, jobs: createJobStore(engine) },
      { usage, quotasOf, metrics: engine.metrics, clock: systemClock },
    ),
    queues: options.queues,
    editor: options.editor,
    usage,
    quotasOf,
    tokens: options.settings,
    teamSettings: options.settings,
    egress: options.egress,
    jobIds: engine.jobIds,
    clock: systemClock,
    logger: options.logger,
    intakeBytesMax: options.limits.intakeBytes,
    ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
  })
  const server = new ApiServer({
    listener,
    clock: systemClock,
    logger: options.logger,
    connectionsMax: options.limits.maxConnections,
  })
  options.lifecycle.onStop('api', () => server.close(CLOSE_GRACE_MS, options.drainMs))
  try {
    const { port } = await server.listen(options.port, options.host)
    return port
  } catch (error) {
    const place = { host: options.host, port: options.port, variable: 'PUNCTUAL_PORT' }
    throw new StartupError(listenFailure(error as NodeJS.ErrnoException, place), { cause: error })
  }
}
