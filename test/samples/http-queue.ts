import { assertionSamples } from './assertions.ts'
import type { KindSamples } from './sample.ts'

const RENAMED = 'cannot be changed: create another HttpQueue'

const ASSERTIONS = assertionSamples({})

export const HTTP_QUEUE: KindSamples = {
  kind: 'HttpQueue',
  crd: 'httpqueues.punctual.dev.yaml',
  name: 'mail',
  full: [
    {
      queueName: 'Mails: out',
      active: false,
      timeoutSeconds: 7,
      retriesEnabled: false,
      retryDelays: [3, 4],
      noRetryStatuses: [410, 404],
      retryJitterPercent: 20,
      successAssertions: [{ type: 'BodyContains', value: '200' }],
      alertsEnabled: true,
      maxParallelism: 5,
      rateLimit: { limit: 10, periodSeconds: 2 },
      respectRetryAfter: true,
      circuitBreaker: { failurePercent: 60, minCalls: 20, windowSeconds: 30, openSeconds: 40 },
      dlqRetentionDays: 30,
      callbackEvents: 'EveryAttempt',
      recordResponses: 'None',
      draining: true,
      strictParallelism: true,
      signing: { secretRefs: [{ name: 'signing', key: 'current' }] },
    },
  ],
  valid: [
    { title: 'nothing but defaults', spec: {} },
    { title: 'no limit, said aloud', spec: { maxParallelism: null } },
    { title: 'a circuit breaker by its defaults', spec: { circuitBreaker: {} } },
    { title: 'no rate limit, said aloud', spec: { rateLimit: null, circuitBreaker: null } },
    { title: 'empty fields', spec: { queueName: null, timeoutSeconds: null, retryDelays: null } },
    { title: 'a name beyond the first plane', spec: { queueName: '😀'.repeat(255) } },
    { title: 'a name with every kind of sign', spec: { queueName: ' \t"\'{}/\\:#\u0000' } },
    { title: 'the same delay twice', spec: { retryDelays: [60, 60] } },
    { title: 'the same assertion twice', spec: { successAssertions: twice('BodyContains', 'ok') } },
    { title: 'other settings of a queue in force', former: { timeoutSeconds: 5 }, spec: { active: false } },
    { title: 'its own name, said aloud', former: {}, spec: { queueName: 'mail' } },
    { title: 'its own name, no longer said', former: { queueName: 'mail' }, spec: {} },
    ...ASSERTIONS.valid,
  ],
  invalid: [
    {
      title: 'another name',
      former: { queueName: 'a' },
      spec: { queueName: 'b' },
      field: 'spec.queueName',
      rule: RENAMED,
    },
    { title: 'a name at last', former: {}, spec: { queueName: 'b' }, field: 'spec.queueName', rule: RENAMED },
    {
      title: 'no name any more',
      former: { queueName: 'a' },
      spec: {},
      field: 'spec.queueName',
      rule: RENAMED,
    },
    { title: 'a name of the API', spec: { max_parallelism: 4 }, field: 'spec.max_parallelism' },
    { title: 'a value of the API', spec: { callbackEvents: 'every_attempt' }, field: 'spec.callbackEvents' },
    {
      title: 'a rate limit without a period',
      spec: { rateLimit: { limit: 5 } },
      field: 'spec.rateLimit.periodSeconds',
    },
    { title: 'a rate limit as text', spec: { rateLimit: '10/s' }, field: 'spec.rateLimit' },
    {
      title: 'a field of the API',
      spec: { circuitBreaker: { min_calls: 5 } },
      field: 'spec.circuitBreaker.min_calls',
    },
    {
      title: 'the same status twice',
      spec: { noRetryStatuses: [410, 410] },
      field: 'spec.noRetryStatuses[1]',
    },
    { title: 'a list that is one number', spec: { retryDelays: 60 }, field: 'spec.retryDelays' },
    { title: 'a spec that is a list', spec: [], field: 'spec' },
    { title: 'no spec', spec: undefined, field: 'spec' },
    ...ASSERTIONS.invalid,
  ],
}

function twice(type: string, value: string): readonly object[] {
  return [
    { type, value },
    { type, value },
  ]
}
