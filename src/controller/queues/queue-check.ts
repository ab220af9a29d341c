import { DEFAULT_QUEUE_SETTINGS } from '../../domain/jobs/queue-settings.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { readerOfCrd } from '../../resources/schema/crd-schema.ts'
import { fieldName } from '../../resources/schema/field-path.ts'
import type { HttpQueueSpec } from '../../resources/generated/kinds.ts'
import { settingsOfSpec, specOfSettings } from '../../resources/queue-spec.ts'
import type { HttpQueue } from '../kinds.ts'

/** The settings a resource asks for, or what is wrong with it, as a sentence. */
export type QueueCheck = (
  queue: HttpQueue,
) => { readonly settings: QueueSettings } | { readonly problem: string }

/**
 * Checks what the API server has let through by rules that are not ours: those of an older CRD, which left fields off
 * or allowed more. Fields of a newer one are passed over.
 */
export function createQueueCheck(): QueueCheck {
  const read = readerOfCrd('httpqueues.punctual.dev.yaml')
  const known = ['queueName', ...Object.keys(specOfSettings(DEFAULT_QUEUE_SETTINGS))]
  return ({ metadata, spec }) => {
    const given: Readonly<Record<string, unknown>> = { ...spec }
    const kept = Object.fromEntries(known.filter((name) => name in given).map((name) => [name, given[name]]))
    const end = read({ metadata: { name: metadata.name }, spec: kept })
    if ('checked' in end) return { settings: settingsOfSpec(end.checked.spec as HttpQueueSpec) }
    const [problem] = end.problems
    return {
      problem: problem === undefined ? 'spec is not valid.' : `${fieldName(problem.path)}: ${problem.reason}`,
    }
  }
}
