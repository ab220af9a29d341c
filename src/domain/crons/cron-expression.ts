/**
 * The five fields of crontab(5): minute, hour, day of month, month, day of week. Each is a list of `*`, a value, a
 * range `a-b`, or one of these with a step `/n`; months and days of the week have names too. cron-parser expands the
 * items of a list; which items are accepted, and what a whole expression means, is decided here.
 */
import { CronExpressionParser, CronMonth } from 'cron-parser'
import { LruCache } from '../lru-cache.ts'

export interface CronExpression {
  readonly text: string
  /** Ascending. */
  readonly minutes: readonly number[]
  /** Ascending. */
  readonly hours: readonly number[]
  /** 1–12, ascending. */
  readonly months: ReadonlySet<number>
  /** Ascending. */
  readonly daysOfMonth: ReadonlySet<number>
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>
  /** Both day fields are restricted: a day has to match only one of them. */
  readonly isEitherDay: boolean
  /** The minute or the hour repeats (`*` or a step): ticks keep their distance when the clock is changed. */
  readonly isPaced: boolean
}

/** Names the problem, as the end of a sentence: `must have five fields …`. */
export interface CronProblem {
  readonly problem: string
}

interface Field {
  readonly name: string
  readonly key: 'minute' | 'hour' | 'dayOfMonth' | 'month' | 'dayOfWeek'
  readonly first: number
  /** Last value of `*` and of a step without an end. */
  readonly last: number
  /** The greatest value that may be written: 7 is a second number for Sunday. */
  readonly max: number
  /** The first and the last name. */
  readonly names: readonly [string, string] | null
}

type FieldsOf<T> = readonly [T, T, T, T, T]

export const CRON_EXPRESSION_CHARACTERS_MAX = 255
const FIELDS: FieldsOf<Field> = [
  { name: 'minute', key: 'minute', first: 0, last: 59, max: 59, names: null },
  { name: 'hour', key: 'hour', first: 0, last: 23, max: 23, names: null },
  { name: 'day of month', key: 'dayOfMonth', first: 1, last: 31, max: 31, names: null },
  { name: 'month', key: 'month', first: 1, last: 12, max: 12, names: ['JAN', 'DEC'] },
  { name: 'day of week', key: 'dayOfWeek', first: 0, last: 6, max: 7, names: ['SUN', 'SAT'] },
]
const FORM = 'five fields: minute, hour, day of month, month, day of week'
/** cron-parser would also take `?`, `L`, `#` and `H`, and names of any length. */
const ITEM = /^(?:\*|[0-9]+(?:-[0-9]+)?)(?:\/[0-9]+)?$/
const ITEM_WITH_NAMES = /^(?:\*|(?:[0-9]+|[a-z]{3})(?:-(?:[0-9]+|[a-z]{3}))?)(?:\/[0-9]+)?$/i
const SHOWN_CHARACTERS_MAX = 40
/** The crons of an installation have few different items, and cron-parser takes 15 µs for one. */
const EXPANDED_ITEMS_MAX = 2_000
const expandedItems = new LruCache<string, readonly number[]>(EXPANDED_ITEMS_MAX)

export function parseCronExpression(text: string): CronExpression | CronProblem {
  // At most two units a character: a text of a mebibyte is not split just to count its characters.
  const isLong = text.length > 2 * CRON_EXPRESSION_CHARACTERS_MAX
  if (isLong || Array.from(text).length > CRON_EXPRESSION_CHARACTERS_MAX) {
    return { problem: `must not be greater than ${CRON_EXPRESSION_CHARACTERS_MAX} characters.` }
  }
  const parts = text.split(/[ \t]+/).filter((part) => part !== '')
  if (text.trimStart().startsWith('@')) {
    return { problem: `must have ${FORM}; names such as ${shown(parts[0] ?? '')} are not allowed.` }
  }
  if (parts.length !== FIELDS.length) return { problem: `must have ${FORM}; this one has ${parts.length}.` }
  const lists: Array<readonly number[]> = []
  for (const [index, field] of FIELDS.entries()) {
    const values = readField(field, parts[index] as string)
    if ('problem' in values) return values
    lists.push(values)
  }
  const [minutes, hours, daysOfMonth, months, weekdays] = lists as unknown as FieldsOf<readonly number[]>
  const [minutePart, hourPart, dayPart, , weekdayPart] = parts as unknown as FieldsOf<string>
  const expression: CronExpression = Object.freeze({
    text,
    minutes,
    hours,
    months: new Set(months),
    daysOfMonth: new Set(daysOfMonth),
    daysOfWeek: new Set(weekdays.map((day) => day % 7)),
    isEitherDay: !isOpen(dayPart) && !isOpen(weekdayPart),
    isPaced: /[*/]/.test(minutePart) || /[*/]/.test(hourPart),
  })
  return neverComes(expression) ?? expression
}

/** `*` leaves a day field open, also inside a list; everything else restricts it, even if it names every day. */
function isOpen(part: string): boolean {
  return part.split(',').some((item) => item === '*' || item === '*/1')
}

/** Ascending, without duplicates: cron-parser refuses lists whose items overlap, so it sees one item at a time. */
function readField(field: Field, part: string): readonly number[] | CronProblem {
  const values = new Set<number>()
  for (const item of part.split(',')) {
    const expanded = readItem(field, item)
    if ('problem' in expanded) return expanded
    for (const value of expanded) values.add(value)
  }
  return Object.freeze([...values].toSorted((a, b) => a - b))
}

function readItem(field: Field, item: string): readonly number[] | CronProblem {
  const refused = (why: string): CronProblem => ({ problem: `has ${shown(item)} as ${field.name}: ${why}.` })
  if (!(field.names === null ? ITEM : ITEM_WITH_NAMES).test(item)) return refused(allowedIn(field))
  const [written = '', step] = item.split('/')
  const range = closedRange(field, written, step !== undefined)
  const values = expand(field, range)
  if (values === null) {
    const areEndsAllowed = range.split('-').every((end) => expand(field, end) !== null)
    return refused(areEndsAllowed ? 'its range ends before it begins' : allowedIn(field))
  }
  if (step === undefined) return values
  const stepMax = field.last - field.first
  const stepped = Number(step) <= stepMax ? expand(field, `${range}/${step}`) : null
  return stepped ?? refused(`a step is 1 to ${stepMax}`)
}

/**
 * Closes an open range for cron-parser, in which a step of weekdays without an end goes on to 7 and `FRI-SUN` would be
 * `5-0`.
 */
function closedRange(field: Field, range: string, hasStep: boolean): string {
  if (hasStep && /^[^*-]+$/.test(range)) return `${range}-${field.last}`
  return field.key === 'dayOfWeek' && !/^(?:0+|SUN)-/i.test(range) ? range.replace(/-SUN$/i, '-7') : range
}

/** null when cron-parser refuses the item. */
function expand({ key }: Field, item: string): readonly number[] | null {
  const cacheKey = `${key} ${item}`
  let values = expandedItems.get(cacheKey)
  if (values !== undefined) return values
  const text = FIELDS.map((field) => (field.key === key ? item : '*')).join(' ')
  try {
    // Only digits, names and `*` come here: there are no values such as `L`.
    values = CronExpressionParser.parse(text).fields[key].values as readonly number[]
  } catch {
    return null
  }
  expandedItems.set(cacheKey, values)
  return values
}

function allowedIn({ first, max, names }: Field): string {
  const named = names === null ? '' : `, ${names[0]} to ${names[1]}`
  return `allowed are ${first} to ${max}${named}, ranges a-b, steps */n and lists of these`
}

function shown(text: string): string {
  const characters = Array.from(text)
  return characters.length <= SHOWN_CHARACTERS_MAX
    ? JSON.stringify(text)
    : JSON.stringify(`${characters.slice(0, SHOWN_CHARACTERS_MAX).join('')}…`)
}

/** Days of the week come in every month; a day of the month may exist in none of the months named. */
function neverComes({ isEitherDay, daysOfMonth, months }: CronExpression): CronProblem | null {
  const first = Math.min(...daysOfMonth)
  if (isEitherDay || [...months].some((month) => first <= (CronMonth.daysInMonth[month - 1] ?? 0)))
    return null
  return { problem: `never comes: none of its months has a day ${first}.` }
}
