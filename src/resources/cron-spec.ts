import { cronScheduleOf } from '../domain/crons/cron.ts'
import type { ConcurrencyPolicy, CronSettings } from '../domain/crons/cron.ts'
import type { MissedRunPolicy } from '../domain/crons/cron-tick.ts'
import { timeZoneProblem } from '../domain/crons/zone-problem.ts'
import { secretValueIn, secretValueText } from '../domain/secrets/secret-values.ts'
import { assertionOf, specOfAssertion } from './assertion-spec.ts'
import { recordedOf, specOfRecorded } from './recorded-spec.ts'
import { signingRefsOf } from './secret-refs.ts'
import { type FieldPath, type FieldProblem, problemAt } from './schema/field-path.ts'
import type { HttpCronSpec } from './generated/kinds.ts'

const CONCURRENCY_POLICIES = { Allow: 'allow', Forbid: 'forbid' } as const
const MISSED_RUN_POLICIES = { Latest: 'latest', Skip: 'skip', All: 'all' } as const

/**
 * The settings of a checked spec.
 * @param name `metadata.name`, the default of the display name
 */
export function settingsOfCronSpec(name: string, spec: HttpCronSpec): CronSettings {
  return Object.freeze({
    displayName: spec.displayName ?? name,
    url: spec.url,
    method: spec.method,
    headers: Object.freeze(
      Object.fromEntries(spec.headers.map((header) => [header.name, valueOf(name, header)])),
    ),
    payload: spec.payload ?? null,
    callbackUrl: spec.callbackUrl ?? null,
    cronExpression: spec.cronExpression,
    timeZone: spec.timeZone,
    isActive: spec.active,
    concurrencyPolicy: CONCURRENCY_POLICIES[spec.concurrencyPolicy],
    missedRunPolicy: MISSED_RUN_POLICIES[spec.missedRunPolicy],
    startingDeadlineSeconds: spec.startingDeadlineSeconds ?? null,
    jitterSeconds: spec.jitterSeconds,
    queue: spec.queue ?? null,
    timeoutSeconds: spec.timeoutSeconds,
    successAssertions: Object.freeze(spec.successAssertions.map(assertionOf)),
    alertThreshold: spec.alertThreshold,
    recordResponses: recordedOf(spec.recordResponses),
    signer: signingRefsOf(spec).length === 0 ? null : name,
  })
}

/** Fields to change. null removes one, as in a JSON merge patch. */
export type CronSpecChange = { readonly [Field in keyof HttpCronSpec]?: HttpCronSpec[Field] | null }

/** The spec fields of the given settings. */
export function specOfCronSettings(settings: Partial<CronSettings>): CronSpecChange {
  const {
    isActive,
    headers,
    concurrencyPolicy,
    missedRunPolicy,
    successAssertions,
    recordResponses,
    signer: _,
    ...same
  } = settings
  return {
    ...same,
    ...(headers === undefined ? {} : { headers: specOfHeaders(headers) }),
    ...(isActive === undefined ? {} : { active: isActive }),
    ...(concurrencyPolicy === undefined ? {} : { concurrencyPolicy: specOfConcurrency(concurrencyPolicy) }),
    ...(missedRunPolicy === undefined ? {} : { missedRunPolicy: specOfMissedRuns(missedRunPolicy) }),
    ...(successAssertions === undefined ? {} : { successAssertions: successAssertions.map(specOfAssertion) }),
    ...(recordResponses === undefined ? {} : { recordResponses: specOfRecorded(recordResponses) }),
  }
}

/** Checks what CRD rules cannot express, with the texts of the API. */
export function cronProblemsOf({ cronExpression, timeZone }: HttpCronSpec): readonly FieldProblem[] {
  return scheduleProblemsOf({ cronExpression, timeZone }, ['spec'])
}

/**
 * Lists what is wrong with a schedule in a spec. Never throws: what cannot be computed is a problem of its expression.
 */
export function scheduleProblemsOf(
  { cronExpression, timeZone }: Pick<CronSettings, 'cronExpression' | 'timeZone'>,
  at: FieldPath,
): readonly FieldProblem[] {
  const zone = problemAt([...at, 'timeZone'], () => timeZoneProblem(timeZone))
  const expression = problemAt([...at, 'cronExpression'], () => {
    const schedule = cronScheduleOf({ cronExpression, timeZone: zone.length === 0 ? timeZone : 'UTC' })
    if ('problem' in schedule) return schedule.problem
    // Running the schedule would evaluate it too. What throws is found here, where it has a name.
    schedule.next(0)
    return null
  })
  return [...expression, ...zone]
}

/** Finds the first URL that the egress policy refuses, with the text of the API. */
export function blockedUrlOf(
  { url, callbackUrl }: Pick<CronSettings, 'url' | 'callbackUrl'>,
  isBlocked: (url: URL) => boolean,
): FieldProblem | null {
  for (const [field, text] of Object.entries({ url, callbackUrl })) {
    const parsed = text === null ? null : URL.parse(text)
    if (parsed !== null && isBlocked(parsed))
      return { path: ['spec', field], reason: 'must not point to a blocked address.' }
  }
  return null
}

/** @param cron `metadata.name` */
function valueOf(cron: string, { value = '', valueFrom }: HttpCronSpec['headers'][number]): string {
  if (valueFrom === undefined) return value
  const { name: secret, key } = valueFrom.secretKeyRef
  return secretValueText({ cron, secret, key })
}

function specOfHeaders(headers: CronSettings['headers']): HttpCronSpec['headers'] {
  return Object.entries(headers).map(([name, value]) => {
    const from = secretValueIn(value)
    return from === null
      ? { name, value }
      : { name, valueFrom: { secretKeyRef: { name: from.secret, key: from.key } } }
  })
}

function specOfConcurrency(policy: ConcurrencyPolicy): keyof typeof CONCURRENCY_POLICIES {
  return policy === 'allow' ? 'Allow' : 'Forbid'
}

function specOfMissedRuns(policy: MissedRunPolicy): keyof typeof MISSED_RUN_POLICIES {
  switch (policy) {
    case 'latest':
      return 'Latest'
    case 'skip':
      return 'Skip'
    case 'all':
      return 'All'
  }
}
