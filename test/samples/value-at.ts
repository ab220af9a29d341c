import type { FieldPath } from '../../src/resources/schema/field-path.ts'

/** What stands at a path; undefined when nothing does. */
export function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>(
    (at, part) => (at as Readonly<Record<string | number, unknown>> | undefined)?.[part],
    value,
  )
}

/** A copy with another value at a path. */
export function withValueAt(value: unknown, path: FieldPath, next: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined) return next
  const copy = structuredClone(value) as Record<string | number, unknown>
  copy[first] = withValueAt(copy[first], rest, next)
  return copy
}
