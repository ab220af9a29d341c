import type { AuditRecord, AuditRecordList } from '../../../clients/typescript/src/client.ts'
import { listView } from '../output/view.ts'

export const AUDIT_LIST = listView<AuditRecordList, AuditRecord>({
  kind: 'record',
  items: (list) => list.records,
  id: (record) => record.id,
  columns: [
    { head: 'AT', cell: (record) => record.at },
    { head: 'ACTOR', cell: ({ actor }) => `${actor.kind} ${actor.name}` },
    { head: 'VIA', cell: (record) => record.via },
    { head: 'FROM', cell: ({ actor }) => actor.address ?? '-', isWide: true },
    { head: 'ACTION', cell: (record) => record.action },
    { head: 'RESOURCE', cell: resourceText, isMain: true },
    { head: 'OUTCOME', cell: (record) => record.outcome },
    { head: 'BEFORE', cell: ({ before }) => fieldsText(before), isWide: true },
    { head: 'AFTER', cell: ({ after }) => fieldsText(after) },
  ],
})

function resourceText({ resource: { kind, id, name }, count }: AuditRecord): string {
  const isOfMany = count > 1 && (kind === 'job' || kind === 'alert')
  if (isOfMany) return [count, `${kind}s`, name].filter((part) => part !== null).join(' ')
  const text = [kind, name, id === null || id === name ? null : `(${id})`]
    .filter((part) => part !== null)
    .join(' ')
  return count > 1 ? `${text} ×${count}` : text
}

function fieldsText(fields: AuditRecord['after']): string {
  const pairs = Object.entries(fields ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return pairs.length === 0 ? '-' : pairs.join(' ')
}
