import { AUDITED_KINDS, type AuditedResource } from '../../domain/access/audit-record.ts'
import { type Page, PAGE_PARAMETERS, type QueryResult, readPage, readQuery, readTime } from './list-query.ts'

const PARAMETERS: ReadonlySet<string> = new Set([
  'actor',
  'action',
  'resource_kind',
  'resource',
  'after',
  'before',
  ...PAGE_PARAMETERS,
])
const TEXT_CHARACTERS_MAX = 255

/** Shape of `AuditFilter` in the ports, which the contract may not import: all conditions must hold; null = any. */
export interface WantedAuditRecords {
  readonly actor: string | null
  readonly action: string | null
  readonly resourceKind: AuditedResource['kind'] | null
  readonly resource: string | null
  readonly afterMs: number | null
  readonly beforeMs: number | null
}

/** The query of `GET /api/audit`. */
export function readAuditQuery(
  search: string,
  nowMs: number,
): QueryResult<Page & { readonly filter: WantedAuditRecords }> {
  return readQuery(search, { known: PARAMETERS, nowMs }, (query) => ({
    filter: {
      actor: query.text('actor', TEXT_CHARACTERS_MAX),
      action: query.text('action', TEXT_CHARACTERS_MAX),
      resourceKind: query.choice('resource_kind', AUDITED_KINDS),
      resource: query.text('resource', TEXT_CHARACTERS_MAX),
      afterMs: readTime(query, 'after'),
      beforeMs: readTime(query, 'before'),
    },
    ...readPage(query),
  }))
}
