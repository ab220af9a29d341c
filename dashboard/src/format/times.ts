const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Such as `340 ms`, `4.2 s`, `3 min 20 s`, `5 h 2 min`, `12 d 4 h`: two units at most. */
export function formatDuration(ms: number): string {
  // Rounded before they are compared, or there would be 60 s and 24 h.
  const [whole, seconds] = [Math.round(ms), Math.round(ms / SECOND)]
  if (whole < SECOND) return `${whole} ms`
  if (seconds < 10) return `${(ms / SECOND).toFixed(1)} s`
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return twoUnits(ms, [MINUTE, 'min'], [SECOND, 's'])
  if (Math.round(ms / MINUTE) < 1_440) return twoUnits(ms, [HOUR, 'h'], [MINUTE, 'min'])
  return twoUnits(ms, [DAY, 'd'], [HOUR, 'h'])
}

/** Whole seconds of a setting, such as `5 s`, `10 min`, `2 h 47 min`. */
export function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * SECOND)
}

type Unit = readonly [ms: number, name: string]

function twoUnits(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const whole = Math.round(ms / small)
  const [first, rest] = [Math.floor((whole * small) / large), Math.round(((whole * small) % large) / small)]
  return rest === 0 ? `${first} ${largeName}` : `${first} ${largeName} ${rest} ${smallName}`
}

/** Such as `3 min ago`, `in 2 h`, `now`: one unit, or two where it matters. */
export function formatRelative(atMs: number, nowMs: number, isExact = false): string {
  const distance = Math.abs(atMs - nowMs)
  if (distance < 5 * SECOND) return 'now'
  const text = isExact && distance >= MINUTE ? formatDuration(distance) : oneUnit(distance)
  return atMs < nowMs ? `${text} ago` : `in ${text}`
}

function oneUnit(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`
  return `${Math.floor(ms / DAY)} d`
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, ...options })
  formats.set(key, made)
  return made
}

/** Such as `2026-11-23 14:05:09`, in a zone of an IANA name. */
export function formatStamp(atMs: number, zone: string): string {
  return formatOf(zone, { dateStyle: 'short', timeStyle: 'medium' }).format(atMs)
}

/** Such as `14:05:09` on the day of `nowMs`, and `11-22 14:05` on others. */
export function formatShort(atMs: number, nowMs: number, zone: string): string {
  const [day = '', time = ''] = formatStamp(atMs, zone).split(' ')
  const [today] = formatStamp(nowMs, zone).split(' ')
  return day === today
    ? time
    : `${day.slice(0, 4) === today?.slice(0, 4) ? day.slice(5) : day} ${time.slice(0, 5)}`
}
