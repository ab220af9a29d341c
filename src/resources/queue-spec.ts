import { isDeepStrictEqual } from 'node:util'
import type { SuccessAssertion } from '../domain/assertion.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../domain/queue-settings.ts'
import type { CallbackEvents, QueueSettings } from '../domain/queue-settings.ts'
import type { AssertionSpec, HttpQueueSpec } from './generated/kinds.ts'

const ASSERTION_TYPES = {
  StatusCodeEquals: 'status_code_equals',
  BodyContains: 'body_contains',
  ResponseTimeUnderMs: 'response_time_under_ms',
} as const

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
  const changed = Object.entries(settings).filter(
    ([name, value]) => !isDeepStrictEqual(value, DEFAULT_QUEUE_SETTINGS[name as keyof QueueSettings]),
  )
  return { queueName, ...specOfSettings(Object.fromEntries(changed) as Partial<QueueSettings>) }
}

/** The rules of the CRD have seen to it that the value fits the type. */
function assertionOf({ type, value }: AssertionSpec): SuccessAssertion {
  switch (type) {
    case 'BodyContains':
      return { type: ASSERTION_TYPES[type], value: String(value) }
    case 'StatusCodeEquals':
    case 'ResponseTimeUnderMs':
      return { type: ASSERTION_TYPES[type], value: Number(value) }
  }
}

function specOfAssertion(assertion: SuccessAssertion): AssertionSpec {
  switch (assertion.type) {
    case 'status_code_equals':
      return { type: 'StatusCodeEquals', value: assertion.value }
    case 'body_contains':
      return { type: 'BodyContains', value: assertion.value }
    case 'response_time_under_ms':
      return { type: 'ResponseTimeUnderMs', value: assertion.value }
  }
}

function specOfEvents(events: CallbackEvents): keyof typeof CALLBACK_EVENTS {
  return events === 'terminal' ? 'Terminal' : 'EveryAttempt'
}
