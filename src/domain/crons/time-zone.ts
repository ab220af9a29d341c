import { LruCache } from '../lru-cache.ts'

/** The time between two changes of a zone's clock: from `startMs`, before `endMs`. Unix ms; ±Infinity at the ends. */
export interface OffsetSpan {
  readonly startMs: number
  readonly endMs: number
  /** Local time minus UTC. */
  readonly offsetMs: number
  /** The offset of the span before; equal to `offsetMs` if there is none. */
  readonly formerOffsetMs: number
}

/** An IANA time zone; all changes of its clock come from the runtime's time zone data. */
export interface TimeZone {
  /** Name as given to `timeZoneOf`. */
  readonly name: string
  /** @param unixMs within the range of `Date` */
  spanAt(unixMs: number): OffsetSpan
}

/** Crons ask about this year and the next few; other spans are computed again. */
const SPANS_KEPT_MAX = 64
const ZONES_KEPT_MAX = 1_000
/** `Europe/Berlin`, `Etc/GMT+5`, `UTC`; an offset such as `+02:00` is not a zone. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/
const ZONE_NAME_CHARACTERS_MAX = 64

const zones = new LruCache<string, TimeZone>(ZONES_KEPT_MAX)

/**
 * The one judge of time zones: null for a name whose clock cannot be computed with. Old names such as `Asia/Calcutta` are
 * zones too. Temporal computes, so Temporal decides: Intl also knows some 40 names, such as `CST` or `SystemV/PST8`, at
 * which Temporal throws.
 */
export function timeZoneOf(name: string): TimeZone | null {
  const known = zones.get(name)
  if (known !== undefined) return known
  if (name.length > ZONE_NAME_CHARACTERS_MAX || !ZONE_NAME.test(name)) return null
  const zone = createTimeZone(name)
  if (!isComputable(zone)) return null
  zones.set(name, zone)
  return zone
}

function isComputable(zone: TimeZone): boolean {
  try {
    zone.spanAt(0)
    return true
  } catch (error) {
    // What Temporal throws at a name that it does not know.
    if (error instanceof RangeError) return false
    throw error
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
  // `previous` looks strictly before its moment: add 1 ms so that a span contains its own first millisecond.
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
