const COUNTS = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** With all digits, such as `12,345`. */
export function formatCount(count: number): string {
  return COUNTS.format(count)
}

/** Such as `12.3K`, for where there is no room. */
export function formatCompact(count: number): string {
  return count < 10_000 ? COUNTS.format(count) : COMPACT.format(count)
}

/** `part` of `whole`, such as `0.04 %`; null when there is no whole. */
export function formatShare(part: number, whole: number): string | null {
  if (whole === 0) return null
  const percent = (part / whole) * 100
  if (percent === 0 || percent === 100) return `${percent} %`
  if (percent < 0.01) return '< 0.01 %'
  return `${percent.toFixed(percent < 1 ? 2 : percent > 99 ? 2 : 1)} %`
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit]}`
}

/** Such as `1 job` and `2 jobs`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** The text with a capital first letter. */
export function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
