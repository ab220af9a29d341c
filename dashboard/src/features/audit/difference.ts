import type { AuditRecord } from '../../../../clients/typescript/src/client.ts'

/** One field as it was and as it is; null = not there. */
export interface Difference {
  readonly field: string
  readonly before: string | null
  readonly after: string | null
}

/** What the sentence says already. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  pause: ['is_active'],
  resume: ['is_active'],
  drain: ['is_draining'],
  test: ['ok'],
  logout: ['everywhere'],
  retry: ['job_id'],
  replay: ['job_id'],
  duplicate: ['job_id'],
  run: ['job_id'],
}

const EMPTY: ReadonlySet<string> = new Set(['none', '[]', '{}', ''])

/** The fields that changed. Of what was made or deleted, those that had a value. */
export function differencesOf({ action, resource, before, after }: AuditRecord): Difference[] {
  const isWhole = before === null || after === null
  const said = new Set(SAID[action])
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return fields
    .filter((field) => !said.has(field))
    .map((field) => ({ field, before: textIn(before, field), after: textIn(after, field) }))
    .filter((one) => !isWhole || isTold(one.before ?? one.after, resource.name))
}

function textIn(fields: AuditRecord['before'], field: string): string | null {
  if (fields === null || !Object.hasOwn(fields, field)) return null
  const value = fields[field]
  if (value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isTold(text: string | null, name: string | null): boolean {
  return text !== null && text !== name && !EMPTY.has(text)
}
