import { DEFAULT_QUEUE_SETTINGS } from '../domain/jobs/queue-settings.ts'
import type { CallbackEvents, QueueSettings } from '../domain/jobs/queue-settings.ts'
import { assertionOf, specOfAssertion } from './assertion-spec.ts'
import type { HttpQueueSpec } from './generated/kinds.ts'
import { changedSettings } from './manifests/manifest-text.ts'

const CALLBACK_EVENTS = { Terminal: 'terminal', EveryAttempt: 'every_attempt' } as const

/** The settings that a checked spec stands for, defaults filled in. */
export function settingsOfSpec(spec: HttpQueueSpec): QueueSettings {
  return Object.freeze({
    isActive: spec.active,
    timeoutSeconds: spec.timeoutSeconds,
    retriesEnabled: spec.retriesEnabled,
    retryDelays: Object.freeze([...spec.retryDelays]),
    successAssertions: Object.freeze(spec.successAssertions.map(assertionOf)),
    alertsEnabled: spec.alertsEnabled,
    maxParallelism: spec.maxParallelism ?? null,
    dlqRetentionDays: spec.dlqRetentionDays,
    callbackEvents: CALLBACK_EVENTS[spec.callbackEvents],
    strictParallelism: spec.strictParallelism,
  })
}

/** Fields to be changed; null takes one away, as a JSON merge patch has it. */
export type SpecChange = { readonly [Field in keyof HttpQueueSpec]?: HttpQueueSpec[Field] | null }

/** Fields of a spec, for those settings that are given; `queueName` is never among them. */
export function specOfSettings(settings: Partial<QueueSettings>): SpecChange {
  const { isActive, successAssertions, callbackEvents, ...same } = settings
  return {
    ...(isActive === undefined ? {} : { active: isActive }),
    ...same,
    ...(successAssertions === undefined ? {} : { successAssertions: successAssertions.map(specOfAssertion) }),
    ...(callbackEvents === undefined ? {} : { callbackEvents: specOfEvents(callbackEvents) }),
  }
}

/** The spec of a new queue: its name, and those settings that are not the defaults. */
export function newQueueSpec(queueName: string, settings: QueueSettings): SpecChange {
  return { queueName, ...specOfSettings(changedSettings(settings, DEFAULT_QUEUE_SETTINGS)) }
}

function specOfEvents(events: CallbackEvents): keyof typeof CALLBACK_EVENTS {
  return events === 'terminal' ? 'Terminal' : 'EveryAttempt'
}
