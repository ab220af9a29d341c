import type { RequestListener } from 'node:http'
import { createApiServer } from '../api/api-server.ts'
import { createApi } from '../api/create-api.ts'
import { StartupError, StoreUnavailableError } from '../domain/errors.ts'
import { listenFailure } from '../domain/listen-failure.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../domain/queue-settings.ts'
import type { EgressPolicy } from '../ports/http-caller.ts'
import type { Logger } from '../ports/logger.ts'
import type { Queue, QueueEditor, QueueStore } from '../ports/queue-store.ts'
import type { CompiledSettings } from '../redis/compiled-settings.ts'
import { createJobIntake } from '../redis/job-intake.ts'
import { createJobStore } from '../redis/job-store.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import type { Lifecycle } from './lifecycle.ts'
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
  settings: CompiledSettings
  egress: EgressPolicy
  fallback?: RequestListener
  /** How long it serves on at a stop; 0 when left out. */
  drainMs?: number
  logger: Logger
  lifecycle: Lifecycle
}): Promise<number> {
  const { engine } = options.store
  const listener = createApi({
    intake: createJobIntake(engine, {
      defaultsOf: () => DEFAULT_QUEUE_SETTINGS,
      nowMs: () => systemClock.monotonicMs(),
    }),
    jobs: createJobStore(engine),
    queues: options.queues,
    editor: options.editor,
    tokens: options.settings,
    teamSettings: options.settings,
    egress: options.egress,
    jobIds: engine.jobIds,
    clock: systemClock,
    logger: options.logger,
    ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
  })
  const server = createApiServer(listener, systemClock)
  options.lifecycle.onStop('api', () => server.close(CLOSE_GRACE_MS, options.drainMs))
  try {
    const { port } = await server.listen(options.port, options.host)
    return port
  } catch (error) {
    const place = { host: options.host, port: options.port, variable: 'PUNCTUAL_PORT' }
    throw new StartupError(listenFailure(error as NodeJS.ErrnoException, place), { cause: error })
  }
}

/** Where no resources are kept, an edit goes to the engine alone. Edits wait for each other, so that none is lost. */
export function createEngineEditor(queues: QueueStore): QueueEditor {
  let lastEdit: Promise<unknown> = Promise.resolve()

  async function edit(team: string, queueId: number, change: Partial<QueueSettings>): Promise<Queue | null> {
    const queue = await queues.get(team, queueId)
    if (queue === null) return null
    await queues.apply(team, queue.name, { ...queue.settings, ...change })
    return queues.get(team, queueId)
  }

  return {
    edit: (team, queueId, change) => {
      const run = () => edit(team, queueId, change)
      const current = lastEdit.then(run, (error: unknown) => {
        // Who waited while Redis did not answer has no time left to find that out again.
        if (error instanceof StoreUnavailableError) throw error
        return run()
      })
      lastEdit = current
      current.catch(() => {
        if (lastEdit === current) lastEdit = Promise.resolve()
      })
      return current
    },
    remove: async (team, queueId) => {
      const queue = await queues.get(team, queueId)
      return queue === null ? 'not_found' : queues.remove(team, queue.name)
    },
  }
}
