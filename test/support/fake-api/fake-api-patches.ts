/** Merge patches, and of server-side apply what our adapters use. */
export type Json = Record<string, unknown>

/** RFC 7396. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result: Json = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = mergePatch(result[name], value)
  }
  return result
}

/** A merge patch that removes what was applied before and is not any more. */
export function lostFields(before: Json, now: Json): Json {
  const lost: Json = {}
  for (const [name, value] of Object.entries(before)) {
    if (!(name in now)) lost[name] = null
    else if (isObject(value) && isObject(now[name])) lost[name] = lostFields(value, now[name])
  }
  return lost
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
