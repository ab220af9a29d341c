import type { FieldName, Fields } from './job-draft.ts'

/** What a copy is to have otherwise: fields that differ, and null for those that are taken out. */
export function changeOf(before: Fields, after: Fields): Fields {
  const changed = new Map<FieldName, string>()
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const json = after.get(name) ?? 'null'
    if (json !== before.get(name)) changed.set(name, json)
  }
  return changed
}
