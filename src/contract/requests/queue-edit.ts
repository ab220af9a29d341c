import { DLQ_RETENTION_DAYS, MAX_PARALLELISM_MAX } from '../../domain/limits.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { readAssertions } from '../fields/assertion-fields.ts'
import type { FieldErrors } from '../fields/field-errors.ts'
import type { FieldReader } from '../fields/field-reader.ts'
import { readBoolean, readChoice, readInteger } from '../fields/field-rules.ts'
import { type BodyResult, readJsonBody } from '../fields/json-body.ts'
import { readCallbackEvents, readRetryDelays, readTimeoutSeconds } from '../fields/retry-fields.ts'
import { cannotChange } from '../fields/validation-texts.ts'

/** The fields of `PATCH /api/queues/{queue_id}`; `name` is known so that its refusal can say why. */
const QUEUE_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'is_active',
  'timeout_seconds',
  'retries_enabled',
  'retry_delays',
  'success_assertions',
  'alerts_enabled',
  'max_parallelism',
  'dlq_retention_days',
  'callback_events',
  'strict_parallelism',
])

/** Checks the body of an edit; only fields that were given are in the result. Never throws. */
export function readQueueEdit(body: Buffer): BodyResult<Partial<QueueSettings>> {
  return readJsonBody(body, QUEUE_FIELDS, (fields, errors) => {
    if (fields.value('name') !== undefined) errors.add('name', cannotChange('name'))
    const flag = (field: string): boolean | null => readBoolean(errors, field, fields.value(field))
    const given = {
      isActive: flag('is_active'),
      timeoutSeconds: readTimeoutSeconds(errors, fields),
      retriesEnabled: flag('retries_enabled'),
      retryDelays: readRetryDelays(errors, fields),
      successAssertions: readAssertions(errors, fields.value('success_assertions')),
      alertsEnabled: flag('alerts_enabled'),
      ...readMaxParallelism(errors, fields),
      dlqRetentionDays: readChoice(
        errors,
        'dlq_retention_days',
        fields.value('dlq_retention_days'),
        DLQ_RETENTION_DAYS,
      ),
      callbackEvents: readCallbackEvents(errors, fields),
      strictParallelism: flag('strict_parallelism'),
    }
    // null = not given, but for the one setting whose null means something.
    return Object.fromEntries(
      Object.entries(given).filter(([name, value]) => value !== null || name === 'maxParallelism'),
    )
  })
}

/** Here null is a value: unlimited. */
function readMaxParallelism(
  errors: FieldErrors,
  fields: FieldReader,
): Partial<Pick<QueueSettings, 'maxParallelism'>> {
  const field = 'max_parallelism'
  if (!fields.has(field)) return {}
  return { maxParallelism: readInteger(errors, field, fields.value(field), 1, MAX_PARALLELISM_MAX) }
}
