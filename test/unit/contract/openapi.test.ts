import { describe, expect, test } from 'vitest'
import { OPENAPI_DOCUMENT } from '../../../src/contract/generated/openapi-document.ts'
import { ALERT_FILTERS } from '../../../src/contract/requests/alert-query.ts'
import {
  CRON_FIELDS,
  PREVIEW_TICKS_DEFAULT,
  PREVIEW_TICKS_MAX,
  readNewCron,
} from '../../../src/contract/requests/cron-request.ts'
import { toWireCron } from '../../../src/contract/responses/cron-wire.ts'
import { PUSH_FIELDS } from '../../../src/contract/requests/pushes/push-request.ts'
import {
  WINDOW_EDIT_FIELDS,
  WINDOW_FIELDS,
  WINDOW_NAME_CHARACTERS_MAX,
} from '../../../src/contract/requests/windows/window-request.ts'
import * as windows from '../../../src/domain/windows/maintenance-window.ts'
import * as alerts from '../../../src/domain/alerts/alert.ts'
import { CRON_EXPRESSION_CHARACTERS_MAX } from '../../../src/domain/crons/cron-expression.ts'
import { MISSED_COUNTED_MAX } from '../../../src/domain/crons/cron-tick.ts'
import * as crons from '../../../src/domain/crons/cron.ts'
import { DEFAULT_CIRCUIT_BREAKER, THROTTLE_REASONS } from '../../../src/domain/jobs/flow.ts'
import { FAILURE_REASONS, METHODS } from '../../../src/domain/jobs/job.ts'
import { WAIT_REASONS } from '../../../src/domain/jobs/waiting.ts'
import * as limits from '../../../src/domain/limits.ts'
import { contract, operations, resolve, validatorOf } from '../../support/rules/contract-document.ts'

const schemas = contract.components['schemas'] as Record<string, Record<string, never>>
const at = (path: string): unknown =>
  path.split('.').reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], schemas)

test.each([
  ['JobPush.properties.queue.maxLength', limits.QUEUE_NAME_CHARACTERS_MAX],
  ['TargetUrl.maxLength', limits.URL_CHARACTERS_MAX],
  ['JobPush.properties.delay.maximum', limits.DELAY_SECONDS_MAX],
  ['JobPush.properties.headers.maxProperties', limits.HEADERS_MAX],
  ['JobPush.properties.headers.propertyNames.maxLength', limits.HEADER_NAME_CHARACTERS_MAX],
  ['JobPush.properties.headers.additionalProperties.maxLength', limits.HEADER_VALUE_BYTES_MAX],
  ['JobPush.properties.tags.maxProperties', limits.TAGS_MAX],
  ['JobPush.properties.tags.propertyNames.maxLength', limits.TAG_NAME_CHARACTERS_MAX],
  ['JobPush.properties.tags.additionalProperties.maxLength', limits.TAG_VALUE_CHARACTERS_MAX],
  ['TimeoutSeconds.minimum', limits.TIMEOUT_SECONDS_MIN],
  ['TimeoutSeconds.maximum', limits.TIMEOUT_SECONDS_MAX],
  ['RetryDelays.maxItems', limits.RETRY_DELAYS_MAX],
  ['RetryDelays.items.minimum', limits.RETRY_DELAY_SECONDS_MIN],
  ['RetryDelays.items.maximum', limits.RETRY_DELAY_SECONDS_MAX],
  ['Queue.properties.max_parallelism.maximum', limits.MAX_PARALLELISM_MAX],
  ['QueueEdit.properties.max_parallelism.maximum', limits.MAX_PARALLELISM_MAX],
  ['NoRetryStatuses.maxItems', limits.NO_RETRY_STATUSES_MAX],
  ['RetryJitterPercent.maximum', limits.RETRY_JITTER_PERCENT_MAX],
  ['QueueRateLimit.properties.limit.maximum', limits.RATE_LIMIT_MAX],
  ['QueueRateLimit.properties.period_seconds.maximum', limits.RATE_PERIOD_SECONDS_MAX],
  ...['CircuitBreaker', 'CircuitBreakerInput'].flatMap((name): ReadonlyArray<[string, unknown]> => [
    [`${name}.properties.min_calls.maximum`, limits.BREAKER_MIN_CALLS_MAX],
    [`${name}.properties.window_seconds.maximum`, limits.BREAKER_WINDOW_SECONDS_MAX],
    [`${name}.properties.open_seconds.maximum`, limits.BREAKER_OPEN_SECONDS_MAX],
  ]),
  ['CircuitBreakerInput.properties.failure_percent.default', DEFAULT_CIRCUIT_BREAKER.failurePercent],
  ['CircuitBreakerInput.properties.min_calls.default', DEFAULT_CIRCUIT_BREAKER.minCalls],
  ['CircuitBreakerInput.properties.window_seconds.default', DEFAULT_CIRCUIT_BREAKER.windowSeconds],
  ['CircuitBreakerInput.properties.open_seconds.default', DEFAULT_CIRCUIT_BREAKER.openSeconds],
  ['Throttled.oneOf.0.properties.reason.enum', THROTTLE_REASONS],
  ['Waiting.properties.reason.enum', WAIT_REASONS],
  ['Queue.properties.dlq_retention_days.enum', limits.DLQ_RETENTION_DAYS],
  ['Queue.properties.success_assertions.maxItems', limits.SUCCESS_ASSERTIONS_MAX],
  ['SuccessAssertion.oneOf.1.properties.value.maxLength', limits.ASSERTION_TEXT_CHARACTERS_MAX],
  ['CronCreate.properties.name.maxLength', crons.CRON_NAME_CHARACTERS_MAX],
  ['CronCreate.properties.payload.maxLength', crons.CRON_PAYLOAD_CHARACTERS_MAX],
  ['CronCreate.properties.alert_threshold.maximum', crons.ALERT_THRESHOLD_MAX],
  ['CronCreate.properties.starting_deadline_seconds.maximum', crons.STARTING_DEADLINE_SECONDS_MAX],
  ['CronCreate.properties.jitter_seconds.maximum', crons.JITTER_SECONDS_MAX],
  ['CronCreate.properties.queue.maxLength', limits.QUEUE_NAME_CHARACTERS_MAX],
  ['CronExpression.maxLength', CRON_EXPRESSION_CHARACTERS_MAX],
  ['CronPreviewQuery.properties.count.maximum', PREVIEW_TICKS_MAX],
  ['CronPreviewQuery.properties.count.default', PREVIEW_TICKS_DEFAULT],
  ['CronRun.properties.ticks.maximum', MISSED_COUNTED_MAX],
  ['JobList.properties.jobs.maxItems', limits.LIST_LIMIT_MAX],
  ['Method.enum', METHODS],
  ['FailureReason.oneOf.0.enum', FAILURE_REASONS],
  ['WindowCreate.properties.name.maxLength', WINDOW_NAME_CHARACTERS_MAX],
  ['WindowCreate.properties.reason.maxLength', windows.WINDOW_REASON_CHARACTERS_MAX],
  ['WindowCreate.properties.recurring.maxItems', windows.WINDOW_SCHEDULES_MAX],
  ['WindowScheduleInput.properties.duration_seconds.minimum', windows.WINDOW_SECONDS_MIN],
  ['WindowScheduleInput.properties.duration_seconds.maximum', windows.WINDOW_SECONDS_MAX],
  ['WindowAction.enum', windows.WINDOW_ACTIONS],
  ['AlertType.enum', alerts.ALERT_TYPES],
  ['AlertReason.enum', alerts.ALERT_REASONS],
  ['AlertResourceKind.enum', alerts.ALERT_RESOURCE_KINDS],
  ['AlertList.properties.alerts.maxItems', limits.LIST_LIMIT_MAX],
  ['Alert.properties.deliveries.maxItems', limits.CHANNELS_PER_TEAM_MAX],
  ['Team.properties.header_secrets.maxItems', limits.HEADER_SECRETS_PER_TEAM_MAX],
  ['Team.properties.masked_headers.maxItems', limits.MASKED_HEADERS_PER_TEAM_MAX],
  ['JobPush.properties.header_secrets.maxProperties', limits.HEADER_SECRETS_PER_JOB_MAX],
  [
    'JobPush.properties.header_secrets.additionalProperties.maxLength',
    limits.HEADER_SECRET_NAME_CHARACTERS_MAX,
  ],
])('%s is the bound the code has', (path, bound) => {
  expect(at(path)).toEqual(bound)
})

test('the fields of a push stand in the order errors are reported', () => {
  expect(Object.keys(schemas['JobPush']?.['properties'] ?? {})).toEqual([...PUSH_FIELDS])
})

test('the fields of a cron stand in the order errors are reported, those of an edit too', () => {
  for (const name of ['CronCreate', 'CronEdit']) {
    expect(Object.keys(schemas[name]?.['properties'] ?? {})).toEqual([...CRON_FIELDS])
  }
})

test('the fields of a window stand in the order errors are reported, those of an edit too', () => {
  expect(Object.keys(schemas['WindowCreate']?.['properties'] ?? {})).toEqual([...WINDOW_FIELDS])
  expect(Object.keys(schemas['WindowEdit']?.['properties'] ?? {})).toEqual([...WINDOW_EDIT_FIELDS])
})

test('the filters of alerts stand in the order errors are reported', () => {
  expect(Object.keys(schemas['AlertFilter']?.['properties'] ?? {})).toEqual([...ALERT_FILTERS])
})

test('the defaults of a cron are those the code has', () => {
  const wire = readNewCron(
    Buffer.from(JSON.stringify({ name: 'n', url: 'https://example.com', cron_expression: '0 0 1 1 *' })),
    { isBlocked: () => false, idempotencyKey: undefined },
  )
  if (wire.kind !== 'valid') throw new Error(JSON.stringify(wire))
  const state = { cronId: 1, nextRunAtMs: null, lastRun: null, lastSuccessAtMs: null, consecutiveFailures: 0 }
  const shown: Readonly<Record<string, unknown>> = {
    ...toWireCron({ ...state, settings: wire.value.settings }),
  }
  const properties = Object.entries<object>(schemas['CronCreate']?.['properties'] ?? {})
  const defaults = properties.flatMap(([field, property]) =>
    'default' in property ? [[field, property.default]] : [],
  )
  expect(defaults).not.toEqual([])
  expect(Object.fromEntries(defaults.map(([field]) => [field, shown[String(field)]]))).toEqual(
    Object.fromEntries(defaults),
  )
})

test('a list has the limits the code has', () => {
  expect(contract.components['parameters']?.['limit']).toMatchObject({
    schema: { maximum: limits.LIST_LIMIT_MAX, default: limits.LIST_LIMIT_DEFAULT },
  })
})

test('every body of an operation has an example', () => {
  const without = operations().flatMap(({ operation: { operationId: id, requestBody, responses } }) => {
    const bodies = [['request', requestBody ?? {}] as const, ...Object.entries(responses)]
    return bodies.flatMap(([what, body]) =>
      Object.values(resolve(body).content ?? {})
        .filter(({ examples }) => Object.keys(examples ?? {}).length === 0)
        .map(() => `${id} ${what}`),
    )
  })
  expect(without).toEqual([])
})

describe('every example in the document holds', () => {
  const bodies = operations().flatMap(({ operation }) => [
    ...(operation.requestBody === undefined ? [] : [['request', operation, operation.requestBody] as const]),
    ...Object.entries(operation.responses).map(
      ([status, response]) => [status, operation, resolve(response)] as const,
    ),
  ])
  test.each(bodies.map(([what, operation, body]) => [operation.operationId, what, body] as const))(
    '%s %s',
    (_operation, _what, body) => {
      for (const media of Object.values(body.content ?? {})) {
        const validate = validatorOf(media.schema)
        for (const { value } of Object.values(media.examples ?? {})) {
          expect([validate(value), validate.errors]).toEqual([true, null])
        }
      }
    },
  )
})

test('no description falls apart at a comma', () => {
  // An unquoted text within braces makes keys without a value of what stands behind its commas.
  const broken = OPENAPI_DOCUMENT.match(/"[^"]* [^"]*":null/g)
  expect(broken).toBeNull()
})
