const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Parses the format `date-time` of a CRD: RFC 3339 in capitals, without leap seconds. null = the text is not valid. */
export function readDateTime(text: string): Date | null {
  const day = DATE_TIME.exec(text)?.[1]
  if (day === undefined) return null
  const midnight = new Date(`${day}T00:00:00Z`)
  // Date reads 30 February as 2 March.
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
  return isDay ? new Date(text) : null
}
