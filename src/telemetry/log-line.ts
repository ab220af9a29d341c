const LEVEL_WIDTH = 5
/** Keys that have a place of their own at the start of the line. */
const LEADING: ReadonlySet<string> = new Set(['time', 'level', 'msg'])

/**
 * One JSON log line as a person reads it: `10:00:00.123 INFO  Queue edited queue=mail limit=4`, stacks below it.
 * A line that is not JSON is passed through.
 */
export function formatLogLine(jsonLine: string): string {
  const record = parse(jsonLine)
  if (record === null) return jsonLine
  const time = typeof record.time === 'string' ? record.time.slice(11, 23) : ''
  const level = (typeof record.level === 'string' ? record.level : '').toUpperCase().padEnd(LEVEL_WIDTH)
  const message = typeof record.msg === 'string' ? record.msg : ''
  const stacks: string[] = []
  const fields = Object.entries(record)
    .filter(([key]) => !LEADING.has(key))
    .map(([key, value]) => ` ${key}=${formatValue(value, stacks)}`)
  const below = stacks.map((stack) => `${stack.replaceAll(/^/gm, '    ')}\n`).join('')
  return `${time} ${level} ${message}${fields.join('')}\n${below}`
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function formatValue(value: unknown, stacks: string[]): string {
  if (isError(value)) {
    if (value.stack !== undefined) stacks.push(value.stack)
    return JSON.stringify(value.message)
  }
  if (typeof value === 'string') return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value)
  return JSON.stringify(value)
}

function isError(value: unknown): value is { message: string; stack?: string } {
  return typeof value === 'object' && value !== null && 'type' in value && 'message' in value
}
