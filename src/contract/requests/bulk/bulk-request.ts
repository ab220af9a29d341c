import { BULK_ACTIONS, type BulkAction, type BulkTarget, makesJobs } from '../../../domain/bulk/bulk.ts'
import type { StopWhen } from '../../../domain/bulk/stop-rule.ts'
import type { JobFilter } from '../../../domain/jobs/job-filter.ts'
import type { JobIds } from '../../../domain/jobs/job-ids.ts'
import { BULK_IDS_MAX, BULK_RATE_MAX, STOP_MIN_DEFAULT, STOP_MIN_MAX } from '../../../domain/limits.ts'
import { isJsonObject, MappedFields } from '../../fields/field-reader.ts'
import { type BodyResult, type JsonFields, readJsonBody, type RequestBody } from '../../fields/json-body.ts'
import { refuseUnknownFields } from '../../fields/unknown-fields.ts'
import {
  mustBeArray,
  mustBeObject,
  mustHaveItemsBetween,
  mustHaveValue,
  onlyForNewJobs,
  prohibits,
  required,
  requiredWithout,
  selectedInvalid,
} from '../../fields/validation-texts.ts'
import { JOB_FILTERS, readJobFilter } from '../job-query.ts'
import { TimedFields } from '../list-query.ts'

/** The fields of `POST /api/bulk`, in the order errors are reported. */
export const BULK_FIELDS: ReadonlySet<string> = new Set([
  'action',
  'ids',
  'filter',
  'dry_run',
  'rate',
  'stop_when',
])
const FILTER_FIELDS: ReadonlySet<string> = new Set(JOB_FILTERS)
/** Limit of each item of `ids`, blanks included: a UUID has 38. */
const ID_CHARACTERS_MAX = 64

export interface WantedBulk {
  readonly action: BulkAction
  readonly target: BulkTarget
  readonly isDryRun: boolean
  readonly ratePerSecond: number | null
  readonly stopWhen: StopWhen | null
}

/** Status that a filter without one finds; null = any. */
const STATUS_OF: Readonly<Record<BulkAction, JobFilter['status']>> = {
  cancel: 'pending',
  fire: 'pending',
  purge: 'dead_lettered',
  replay: 'dead_lettered',
  retry: 'failed',
  delete: null,
}
/** The statuses that a filter may ask for, where there are several. */
const STATUSES_OF: Readonly<Partial<Record<BulkAction, ReadonlyArray<JobFilter['status']>>>> = {
  retry: ['failed', 'dead_lettered'],
  delete: ['pending', 'completed', 'failed', 'dead_lettered'],
}

/** Checks the body of `POST /api/bulk`. Never throws. @param nowMs what spans of time are counted back from */
export function readBulk(body: RequestBody, jobIds: JobIds, nowMs: number): BodyResult<WantedBulk> {
  return readJsonBody(body, BULK_FIELDS, (fields) => {
    // Values of mistakes that were reported are not used.
    const action =
      fields.value('action') === undefined
        ? fields.refuse('action', required)
        : fields.choice('action', BULK_ACTIONS)
    return {
      action: action ?? 'cancel',
      target: readTarget(fields, { jobIds, nowMs, action: action ?? 'cancel' }),
      isDryRun: fields.boolean('dry_run') ?? false,
      ratePerSecond: fields.integer('rate', 1, BULK_RATE_MAX),
      stopWhen: readStopWhen(fields, action),
    }
  })
}

const STOP_FIELDS: ReadonlySet<string> = new Set(['failed_again_percent', 'min'])

/** @param action null = a mistake in it was reported */
function readStopWhen(fields: JsonFields, action: BulkAction | null): StopWhen | null {
  const given = fields.value('stop_when')
  if (given === undefined) return null
  if (!isJsonObject(given)) return fields.refuse('stop_when', mustBeObject)
  if (action !== null && !makesJobs(action)) return fields.refuse('stop_when', onlyForNewJobs)
  const reader = new MappedFields(fields.errors, (name) => given[name] ?? undefined, 'stop_when.')
  if (reader.value('failed_again_percent') === undefined) reader.refuse('failed_again_percent', required)
  const percent = reader.integer('failed_again_percent', 1, 100)
  const min = reader.integer('min', 1, STOP_MIN_MAX)
  refuseUnknownFields(fields.errors, {
    names: Object.keys(given),
    known: STOP_FIELDS,
    prefix: 'stop_when.',
  })
  return { failedAgainPercent: percent ?? 100, min: min ?? STOP_MIN_DEFAULT }
}

interface TargetTerms {
  readonly jobIds: JobIds
  readonly nowMs: number
  readonly action: BulkAction
}

function readTarget(fields: JsonFields, terms: TargetTerms): BulkTarget {
  const ids = readIds(fields, terms.jobIds)
  const filter = readFilter(fields, terms)
  if (ids !== undefined && filter !== undefined) fields.refuse('ids', (path) => prohibits(path, 'filter'))
  if (ids === undefined && filter === undefined)
    fields.refuse('ids', (path) => requiredWithout(path, ['filter']))
  return filter === undefined || filter === null
    ? { kind: 'ids', ids: ids ?? [] }
    : { kind: 'filter', filter }
}

/** undefined = not given; null after a reported mistake. Each id once. */
function readIds(fields: JsonFields, jobIds: JobIds): number[] | null | undefined {
  const source = fields.source('ids')
  if (source === undefined) return undefined
  const tooMany = () => fields.refuse('ids', (path) => mustHaveItemsBetween(path, 1, BULK_IDS_MAX))
  if (source.length > BULK_IDS_MAX * ID_CHARACTERS_MAX) return tooMany()
  const items = JSON.parse(source) as unknown
  if (!Array.isArray(items)) return fields.refuse('ids', mustBeArray)
  if (items.length < 1 || items.length > BULK_IDS_MAX) return tooMany()
  const ids = items.map((item: unknown) =>
    typeof item === 'number' || typeof item === 'string' ? jobIds.parse(String(item)) : null,
  )
  const wrong = ids.indexOf(null)
  if (wrong !== -1) return fields.refuse(`ids.${wrong}`, selectedInvalid)
  return [...new Set(ids.filter((id) => id !== null))]
}

/** Reads the filter of the list of jobs, as JSON. undefined = not given; null after a reported mistake. */
function readFilter(
  fields: JsonFields,
  { action, nowMs }: Omit<TargetTerms, 'jobIds'>,
): JobFilter | null | undefined {
  const given = fields.value('filter')
  if (given === undefined) return undefined
  if (!isJsonObject(given)) return fields.refuse('filter', mustBeObject)
  const reader = new TimedFields(
    fields.errors,
    (name) => {
      // As in a query: with an unset variable, a script would act on everything.
      if (given[name] === '') fields.errors.add(`filter.${name}`, mustHaveValue(`filter.${name}`))
      return given[name] === '' ? undefined : (given[name] ?? undefined)
    },
    { nowMs, prefix: 'filter.' },
  )
  const filter = readJobFilter(reader)
  refuseUnknownFields(fields.errors, { names: Object.keys(given), known: FILTER_FIELDS, prefix: 'filter.' })
  if (!isPossible(action, filter.status)) return reader.refuse('status', selectedInvalid)
  return { ...filter, status: filter.status ?? STATUS_OF[action] }
}

function isPossible(action: BulkAction, status: JobFilter['status']): boolean {
  return status === null || status === STATUS_OF[action] || (STATUSES_OF[action]?.includes(status) ?? false)
}
