/** A stretch of a zone's clock between two changes: from `startMs`, before `endMs`. Unix ms; infinite at the ends. */
export interface OffsetSpan {
  readonly startMs: number
  readonly endMs: number
  /** Local time minus UTC. */
  readonly offsetMs: number
  /** The offset of the span before; the same as `offsetMs` where there is none. */
  readonly formerOffsetMs: number
}

/** An IANA time zone. Daylight saving and every other change are what the runtime's time zone data says. */
export interface TimeZone {
  /** As it was asked for. */
  readonly name: string
  /** @param unixMs within the years that dates have */
  spanAt(unixMs: number): OffsetSpan
}

/** Crons look at this year and the next ones; whoever looks further computes anew. */
const SPANS_KEPT_MAX = 64
const ZONES_KEPT_MAX = 1_000
/** `Europe/Berlin`, `Etc/GMT+5`, `UTC`; offsets such as `+02:00` are no zones. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/
const ZONE_NAME_CHARACTERS_MAX = 64

const zones = new Map<string, TimeZone>()

/** null for a name that the IANA database does not have. Old names such as `Asia/Calcutta` are zones too. */
export function timeZoneOf(name: string): TimeZone | null {
  const known = zones.get(name)
  if (known !== undefined) return known
  if (name.length > ZONE_NAME_CHARACTERS_MAX || !ZONE_NAME.test(name) || !isZone(name)) return null
  if (zones.size >= ZONES_KEPT_MAX) zones.clear()
  const zone = createTimeZone(name)
  zones.set(name, zone)
  return zone
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

function createTimeZone(name: string): TimeZone {
  let spans: OffsetSpan[] = []
  return {
    name,
    spanAt: (unixMs) => {
      const kept = spans.find(({ startMs, endMs }) => startMs <= unixMs && unixMs < endMs)
      if (kept !== undefined) return kept
      const span = readSpan(name, unixMs)
      spans = [span, ...spans.slice(0, SPANS_KEPT_MAX - 1)]
      return span
    },
  }
}

function readSpan(name: string, unixMs: number): OffsetSpan {
  const at = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(name)
  const offsetAt = (ms: number) => at(ms).offsetNanoseconds / 1e6
  // One more, for a span is to be found from its first millisecond on, and `previous` looks before its moment.
  const start = at(unixMs + 1).getTimeZoneTransition('previous')?.epochMilliseconds ?? -Infinity
  const end = at(unixMs).getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity
  const offsetMs = offsetAt(unixMs)
  return {
    startMs: start,
    endMs: end,
    offsetMs,
    formerOffsetMs: start === -Infinity ? offsetMs : offsetAt(start - 1),
  }
}
