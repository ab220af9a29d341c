import type { SuccessAssertion } from '../domain/assertion.ts'
import { ASSERTION_TEXT_CHARACTERS_MAX } from '../domain/limits.ts'
import type { CallbackEvents, QueueSettings } from '../domain/queue-settings.ts'
import type { FieldProblem } from './field-path.ts'
import type { AssertionSpec, HttpQueueSpec } from './generated/kinds.ts'

const ASSERTION_TYPES = {
  StatusCodeEquals: 'status_code_equals',
  BodyContains: 'body_contains',
  ResponseTimeUnderMs: 'response_time_under_ms',
} as const

const CALLBACK_EVENTS = { Terminal: 'terminal', EveryAttempt: 'every_attempt' } as const

const STATUS_MIN = 100
const STATUS_MAX = 599
const RESPONSE_TIME_MS_MAX = 300_000

/** The settings a checked spec stands for; problems are those that only the CEL rules of the CRD can say. */
export function settingsOfSpec(spec: HttpQueueSpec): {
  readonly settings: QueueSettings
  readonly problems: readonly FieldProblem[]
} {
  const problems: FieldProblem[] = []
  const assertions = spec.successAssertions.flatMap((assertion, index) => {
    const read = readAssertion(assertion.type, assertion.value)
    if (typeof read !== 'string') return [read]
    problems.push({ path: ['successAssertions', index, 'value'], reason: read })
    return []
  })
  if (spec.queueName?.isWellFormed() === false) {
    problems.push({ path: ['queueName'], reason: 'must not hold half of a surrogate pair.' })
  }
  const settings: QueueSettings = {
    isActive: spec.active,
    timeoutSeconds: spec.timeoutSeconds,
    retriesEnabled: spec.retriesEnabled,
    retryDelays: Object.freeze([...spec.retryDelays]),
    successAssertions: Object.freeze(assertions),
    alertsEnabled: spec.alertsEnabled,
    maxParallelism: spec.maxParallelism ?? null,
    dlqRetentionDays: spec.dlqRetentionDays,
    callbackEvents: CALLBACK_EVENTS[spec.callbackEvents],
    strictParallelism: spec.strictParallelism,
  }
  return { settings: Object.freeze(settings), problems }
}

/** Fields of a spec, for those settings that are given; `queueName` is never among them. */
export function specOfSettings(settings: Partial<QueueSettings>): Partial<HttpQueueSpec> {
  const { isActive, successAssertions, callbackEvents, ...same } = settings
  return {
    ...(isActive === undefined ? {} : { active: isActive }),
    ...same,
    ...(successAssertions === undefined ? {} : { successAssertions: successAssertions.map(specOfAssertion) }),
    ...(callbackEvents === undefined ? {} : { callbackEvents: specOfEvents(callbackEvents) }),
  }
}

/** The assertion, or what is wrong with its value. */
function readAssertion(
  type: keyof typeof ASSERTION_TYPES,
  value: number | string,
): SuccessAssertion | string {
  switch (type) {
    case 'StatusCodeEquals': {
      const status = wholeNumber(value, STATUS_MIN, STATUS_MAX)
      if (status === null) return `must be a status from ${STATUS_MIN} to ${STATUS_MAX}.`
      return { type: ASSERTION_TYPES[type], value: status }
    }
    case 'ResponseTimeUnderMs': {
      const timeMs = wholeNumber(value, 1, RESPONSE_TIME_MS_MAX)
      if (timeMs === null) return `must be a number of milliseconds from 1 to ${RESPONSE_TIME_MS_MAX}.`
      return { type: ASSERTION_TYPES[type], value: timeMs }
    }
    case 'BodyContains': {
      if (typeof value === 'string' && value !== '') return { type: ASSERTION_TYPES[type], value }
      return `must be a text of 1 to ${ASSERTION_TEXT_CHARACTERS_MAX} characters; put quotes around a number.`
    }
  }
}

function wholeNumber(value: number | string, min: number, max: number): number | null {
  const number = typeof value === 'string' && /^[1-9][0-9]{0,8}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && number >= min && number <= max ? number : null
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
