import {
  ALERT_REASONS,
  ALERT_RESOURCE_KINDS,
  ALERT_TYPES,
  type AlertReason,
  type AlertResourceKind,
  type AlertType,
} from '../../domain/alerts/alert.ts'
import type { FieldReader } from '../fields/field-reader.ts'
import { type BodyResult, readJsonBody, type RequestBody } from '../fields/json-body.ts'
import { prohibits, requiredWithout } from '../fields/validation-texts.ts'
import { type Page, PAGE_PARAMETERS, type QueryResult, readPage, readQuery, readTime } from './list-query.ts'

/** The filters of a list of alerts, in the order errors are reported. */
export const ALERT_FILTERS = [
  'type',
  'reason',
  'resource_kind',
  'resource_id',
  'read',
  'after',
  'before',
] as const
const FILTERS: ReadonlySet<string> = new Set(ALERT_FILTERS)
const LIST_PARAMETERS: ReadonlySet<string> = new Set([...ALERT_FILTERS, ...PAGE_PARAMETERS])
const DELETION_PARAMETERS: ReadonlySet<string> = new Set([...ALERT_FILTERS, 'all'])

/** Shape of `AlertFilter` in the ports, which the contract may not import: all conditions must hold; null = any. */
export interface WantedAlerts {
  readonly type: AlertType | null
  readonly reason: AlertReason | null
  readonly resourceKind: AlertResourceKind | null
  readonly resourceId: number | null
  readonly isRead: boolean | null
  readonly afterMs: number | null
  readonly beforeMs: number | null
}

/** The query of `GET /api/alerts`. */
export function readAlertQuery(
  search: string,
  nowMs: number,
): QueryResult<Page & { readonly filter: WantedAlerts }> {
  return readQuery(search, { known: LIST_PARAMETERS, nowMs }, (query) => ({
    filter: readFilter(query),
    ...readPage(query),
  }))
}

/**
 * The query of `DELETE /api/alerts`. Without a filter it must say `all=true`: with an unset variable, a script would
 * delete everything.
 */
export function readAlertDeletion(search: string, nowMs: number): QueryResult<WantedAlerts> {
  return readQuery(search, { known: DELETION_PARAMETERS, nowMs }, (query) => {
    const filter = readFilter(query)
    const isAll = query.boolean('all') === true
    const given = ALERT_FILTERS.find((name) => query.value(name) !== undefined)
    if (isAll && given !== undefined) query.refuse('all', (path) => prohibits(path, given))
    else if (!isAll && given === undefined && query.errors.count === 0) {
      query.refuse('all', (path) => requiredWithout(path, ALERT_FILTERS))
    }
    return filter
  })
}

/** Checks the body of `POST /api/alerts/read`; `{}` is every alert. Never throws. */
export function readAlertSelection(body: RequestBody): BodyResult<WantedAlerts> {
  return readJsonBody(body, FILTERS, readFilter)
}

function readFilter(fields: FieldReader): WantedAlerts {
  return {
    type: fields.choice('type', ALERT_TYPES),
    reason: fields.choice('reason', ALERT_REASONS),
    resourceKind: fields.choice('resource_kind', ALERT_RESOURCE_KINDS),
    resourceId: fields.integer('resource_id', 0, Number.MAX_SAFE_INTEGER),
    isRead: fields.boolean('read'),
    afterMs: readTime(fields, 'after'),
    beforeMs: readTime(fields, 'before'),
  }
}
