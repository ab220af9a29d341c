import type { FieldName, Fields } from './job-draft.ts'

/** What a copy is to have otherwise: fields that differ, and null for those that are taken out. */
export function changeOf(before: Fields, after: Fields): Fields {
  const changed = new Map<FieldName, string>()
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const json = after.get(name) ?? 'null'
    if (json !== before.get(name)) changed.set(name, json)
  }
  return withBoth(changed, after, ['body', 'body_encoding'])
}

/** Of two fields that are read together, one alone would mean something else. */
function withBoth(changed: Map<FieldName, string>, after: Fields, pair: readonly FieldName[]): Fields {
  if (pair.some((name) => changed.has(name))) {
    for (const name of pair) changed.set(name, after.get(name) ?? 'null')
  }
  return changed
}
