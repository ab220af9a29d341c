import { DEFAULT_QUEUE_SETTINGS } from '../domain/jobs/queue-settings.ts'
import type { CallbackEvents, QueueSettings } from '../domain/jobs/queue-settings.ts'
import { assertionOf, specOfAssertion } from './assertion-spec.ts'
import type { HttpQueueSpec } from './generated/kinds.ts'
import { changedSettings } from './manifests/manifest-text.ts'
import { recordedOf, specOfRecorded } from './recorded-spec.ts'

const CALLBACK_EVENTS = { Terminal: 'terminal', EveryAttempt: 'every_attempt' } as const

/** The settings of a checked spec. */
export function settingsOfSpec(spec: HttpQueueSpec): QueueSettings {
  return Object.freeze({
    isActive: spec.active,
    isDraining: spec.draining,
    timeoutSeconds: spec.timeoutSeconds,
    retriesEnabled: spec.retriesEnabled,
    retryDelays: Object.freeze([...spec.retryDelays]),
    noRetryStatuses: Object.freeze([...spec.noRetryStatuses]),
    retryJitterPercent: spec.retryJitterPercent,
    successAssertions: Object.freeze(spec.successAssertions.map(assertionOf)),
    alertsEnabled: spec.alertsEnabled,
    maxParallelism: spec.maxParallelism ?? null,
    rateLimit: spec.rateLimit ?? null,
    respectRetryAfter: spec.respectRetryAfter,
    circuitBreaker: spec.circuitBreaker ?? null,
    dlqRetentionDays: spec.dlqRetentionDays,
    callbackEvents: CALLBACK_EVENTS[spec.callbackEvents],
    recordResponses: recordedOf(spec.recordResponses),
    strictParallelism: spec.strictParallelism,
  })
}

/** Fields to change. null removes one, as in a JSON merge patch. */
export type SpecChange = { readonly [Field in keyof HttpQueueSpec]?: HttpQueueSpec[Field] | null }

/** Makes the spec fields of the given settings, but never `queueName`. */
export function specOfSettings(settings: Partial<QueueSettings>): SpecChange {
  const { isActive, isDraining, successAssertions, callbackEvents, recordResponses, ...same } = settings
  return {
    ...(isActive === undefined ? {} : { active: isActive }),
    ...(isDraining === undefined ? {} : { draining: isDraining }),
    ...same,
    ...(successAssertions === undefined ? {} : { successAssertions: successAssertions.map(specOfAssertion) }),
    ...(callbackEvents === undefined ? {} : { callbackEvents: specOfEvents(callbackEvents) }),
    ...(recordResponses === undefined ? {} : { recordResponses: specOfRecorded(recordResponses) }),
  }
}

/** The spec of a new queue, without default settings. */
export function newQueueSpec(queueName: string, settings: QueueSettings): SpecChange {
  return { queueName, ...specOfSettings(changedSettings(settings, DEFAULT_QUEUE_SETTINGS)) }
}

function specOfEvents(events: CallbackEvents): keyof typeof CALLBACK_EVENTS {
  return events === 'terminal' ? 'Terminal' : 'EveryAttempt'
}
