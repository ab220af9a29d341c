import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as crons from '../../../src/domain/crons/cron.ts'
import { CRON_EXPRESSION_CHARACTERS_MAX } from '../../../src/domain/crons/cron-expression.ts'
import * as limits from '../../../src/domain/limits.ts'
import * as windows from '../../../src/domain/windows/maintenance-window.ts'
import { DEFAULT_CIRCUIT_BREAKER } from '../../../src/domain/jobs/flow.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { specOfSettings } from '../../../src/resources/queue-spec.ts'

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxLength?: number
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly 'x-kubernetes-int-or-string'?: boolean
}

const folder = join(import.meta.dirname, '../../../crds')

function schemaOf(file: string): Schema {
  const crd = parse(readFileSync(join(folder, file), 'utf8')) as {
    metadata: { name: string }
    spec: { group: string; names: { plural: string }; versions: { schema: { openAPIV3Schema: Schema } }[] }
  }
  expect(crd.metadata.name).toBe(`${crd.spec.names.plural}.${crd.spec.group}`)
  expect(file).toBe(`${crd.metadata.name}.yaml`)
  return crd.spec.versions[0]?.schema.openAPIV3Schema ?? {}
}

/** Every node below the kind's own fields, with its path. */
function nodesOf(schema: Schema, path = ''): Array<readonly [string, Schema]> {
  const below = Object.entries(schema.properties ?? {}).filter(
    ([name]) => path !== '' || name === 'spec' || name === 'status',
  )
  return [
    [path, schema],
    ...below.flatMap(([name, child]) => nodesOf(child, `${path}.${name}`)),
    ...(schema.items === undefined ? [] : nodesOf(schema.items, `${path}[]`)),
  ]
}

describe.each(readdirSync(folder))('%s', (file) => {
  it.each(nodesOf(schemaOf(file)))('%s is typed and bounded', (_path, node) => {
    expect(node.type !== undefined || node['x-kubernetes-int-or-string'] === true).toBe(true)
    const isBounded = {
      integer: node.enum !== undefined || node.minimum !== undefined,
      array: node.maxItems !== undefined && node.items !== undefined,
      string: node.enum !== undefined || node.maxLength !== undefined || 'format' in node,
      object: true,
      boolean: true,
    }[node.type ?? 'boolean']
    expect(isBounded).toBe(true)
  })
})

it.each(readdirSync(folder))('%s is in progress at first', (file) => {
  expect(schemaOf(file).properties?.status?.default).toEqual({ observedGeneration: -1 })
})

it.each(readdirSync(folder))('%s tells in a column why it is not ready', (file) => {
  const reason = `jsonPath: .status.conditions[?(@.type=="Ready")].reason`
  expect(readFileSync(join(folder, file), 'utf8')).toContain(reason)
})

it('a MaintenanceWindow has the bounds of the domain', () => {
  const spec = schemaOf('maintenancewindows.punctual.dev.yaml').properties?.spec?.properties ?? {}
  const { WINDOW_SCHEDULES_MAX: maxItems, WINDOW_REASON_CHARACTERS_MAX: maxLength } = windows
  const { WINDOW_SECONDS_MIN: minimum, WINDOW_SECONDS_MAX: maximum } = windows
  expect(spec).toMatchObject({
    recurring: { maxItems, items: { properties: { durationSeconds: { minimum, maximum } } } },
    reason: { maxLength },
  })
  const crd = readFileSync(join(folder, 'maintenancewindows.punctual.dev.yaml'), 'utf8')
  expect(crd).toContain(`<= duration("${windows.WINDOW_DAYS_MAX * 24}h")`)
})

describe('HttpQueue', () => {
  const spec = schemaOf('httpqueues.punctual.dev.yaml').properties?.spec?.properties ?? {}

  it('has the defaults of a queue made by a push', () => {
    const defaults = Object.entries(spec).flatMap(([name, field]) =>
      field.default === undefined ? [] : [[name, field.default] as const],
    )
    const given = Object.entries(specOfSettings(DEFAULT_QUEUE_SETTINGS))
    const absent = given.filter(([, value]) => value === null).map(([name]) => name)
    expect(absent).toEqual(['maxParallelism', 'rateLimit', 'circuitBreaker'])
    const expected = Object.fromEntries(given.filter(([name]) => !absent.includes(name)))
    expect(Object.fromEntries(defaults)).toEqual({ ...expected, signing: {} })
    for (const name of absent) expect(spec[name]).not.toHaveProperty('default')
    const breaker = Object.entries(spec.circuitBreaker?.properties ?? {})
    expect(Object.fromEntries(breaker.map(([name, field]) => [name, field.default]))).toEqual(
      DEFAULT_CIRCUIT_BREAKER,
    )
  })

  it('has a field for each setting, and one for the name', () => {
    expect(Object.keys(spec).sort()).toEqual(
      [...Object.keys(specOfSettings(DEFAULT_QUEUE_SETTINGS)), 'queueName', 'signing'].sort(),
    )
  })

  it('has the bounds of the service', () => {
    expect(spec).toMatchObject({
      queueName: { minLength: 1, maxLength: limits.QUEUE_NAME_CHARACTERS_MAX },
      timeoutSeconds: { minimum: limits.TIMEOUT_SECONDS_MIN, maximum: limits.TIMEOUT_SECONDS_MAX },
      retryDelays: {
        minItems: 1,
        maxItems: limits.RETRY_DELAYS_MAX,
        items: { minimum: limits.RETRY_DELAY_SECONDS_MIN, maximum: limits.RETRY_DELAY_SECONDS_MAX },
      },
      successAssertions: {
        maxItems: limits.SUCCESS_ASSERTIONS_MAX,
        items: { properties: { value: { maxLength: limits.ASSERTION_TEXT_CHARACTERS_MAX } } },
      },
      noRetryStatuses: { maxItems: limits.NO_RETRY_STATUSES_MAX },
      retryJitterPercent: { minimum: 0, maximum: limits.RETRY_JITTER_PERCENT_MAX },
      maxParallelism: { minimum: 1, maximum: limits.MAX_PARALLELISM_MAX },
      rateLimit: {
        properties: {
          limit: { minimum: 1, maximum: limits.RATE_LIMIT_MAX },
          periodSeconds: { minimum: 1, maximum: limits.RATE_PERIOD_SECONDS_MAX },
        },
      },
      circuitBreaker: {
        properties: {
          failurePercent: { minimum: 1, maximum: 100 },
          minCalls: { minimum: 1, maximum: limits.BREAKER_MIN_CALLS_MAX },
          windowSeconds: { minimum: 1, maximum: limits.BREAKER_WINDOW_SECONDS_MAX },
          openSeconds: { minimum: 1, maximum: limits.BREAKER_OPEN_SECONDS_MAX },
        },
      },
      dlqRetentionDays: { enum: [...limits.DLQ_RETENTION_DAYS] },
    })
  })
})

it('an HttpCron has the bounds of the service', () => {
  const spec = schemaOf('httpcrons.punctual.dev.yaml').properties?.spec?.properties ?? {}
  expect(spec).toMatchObject({
    displayName: { maxLength: limits.QUEUE_NAME_CHARACTERS_MAX },
    queue: { maxLength: limits.QUEUE_NAME_CHARACTERS_MAX },
    url: { maxLength: limits.URL_CHARACTERS_MAX },
    callbackUrl: { maxLength: limits.URL_CHARACTERS_MAX },
    headers: {
      maxItems: limits.HEADERS_MAX,
      items: {
        properties: {
          name: { maxLength: limits.HEADER_NAME_CHARACTERS_MAX },
          value: { maxLength: limits.HEADER_VALUE_BYTES_MAX },
        },
      },
    },
    payload: { maxLength: crons.CRON_PAYLOAD_CHARACTERS_MAX },
    cronExpression: { maxLength: CRON_EXPRESSION_CHARACTERS_MAX },
    startingDeadlineSeconds: { minimum: 1, maximum: crons.STARTING_DEADLINE_SECONDS_MAX },
    jitterSeconds: { minimum: 0, maximum: crons.JITTER_SECONDS_MAX },
    alertThreshold: { minimum: 1, maximum: crons.ALERT_THRESHOLD_MAX },
  })
})
