import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { HttpQueueSpec } from '../../resources/generated/kinds.ts'
import { settingsOfSpec, specOfSettings } from '../../resources/queue-spec.ts'
import type { HttpQueue } from '../kinds.ts'
import { createSpecCheck, orRefused } from '../reconcile/spec-check.ts'

/** Answers the settings that a resource asks for, or a sentence that says what is wrong with it. */
export type QueueCheck = (
  queue: HttpQueue,
) => { readonly settings: QueueSettings } | { readonly problem: string }

export function createQueueCheck(): QueueCheck {
  const fields = ['queueName', ...Object.keys(specOfSettings(DEFAULT_QUEUE_SETTINGS))]
  const check = createSpecCheck<HttpQueueSpec>('httpqueues.punctual.dev.yaml', fields)
  return orRefused((queue: HttpQueue) => {
    const checked = check(queue)
    return 'problem' in checked ? checked : { settings: settingsOfSpec(checked.spec) }
  })
}
