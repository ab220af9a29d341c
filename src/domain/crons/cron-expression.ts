/**
 * Five fields, as crontab has had them: minute, hour, day of month, month, day of week. Each is a list of `*`, a
 * value, a range `a-b`, or one of these with a step `/n`; months and days of the week have names too.
 */

export interface CronExpression {
  readonly text: string
  /** Ascending. */
  readonly minutes: readonly number[]
  /** Ascending. */
  readonly hours: readonly number[]
  /** 1–12. */
  readonly months: ReadonlySet<number>
  readonly daysOfMonth: ReadonlySet<number>
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>
  /** Both day fields are restricted: a day that fits one of them will do. */
  readonly isEitherDay: boolean
  /** The minute or the hour repeats (`*` or a step): the pace counts, not the time on the wall. */
  readonly isPaced: boolean
}

/** What is wrong, as the end of a sentence: `must have five fields …`. */
export interface CronProblem {
  readonly problem: string
}

interface Field {
  readonly name: string
  readonly first: number
  /** Where `*` ends. */
  readonly last: number
  /** The greatest that may be written: 7 is another name of Sunday. */
  readonly max: number
  /** From `first` on. */
  readonly names: readonly string[]
}

type FieldsOf<T> = readonly [T, T, T, T, T]

export const CRON_EXPRESSION_CHARACTERS_MAX = 255
const SUNDAY = 'SUN'
const FIELDS: FieldsOf<Field> = [
  { name: 'minute', first: 0, last: 59, max: 59, names: [] },
  { name: 'hour', first: 0, last: 23, max: 23, names: [] },
  { name: 'day of month', first: 1, last: 31, max: 31, names: [] },
  {
    name: 'month',
    first: 1,
    last: 12,
    max: 12,
    names: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' '),
  },
  {
    name: 'day of week',
    first: 0,
    last: 6,
    max: 7,
    names: [SUNDAY, ...'MON TUE WED THU FRI SAT'.split(' ')],
  },
]
const FORM = 'five fields: minute, hour, day of month, month, day of week'
/** The most days each month has, from January. */
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const ITEM = /^(?:(\*)|([0-9]+|[A-Za-z]+)(?:-([0-9]+|[A-Za-z]+))?)(?:\/([0-9]+))?$/
const SHOWN_CHARACTERS_MAX = 40

export function parseCronExpression(text: string): CronExpression | CronProblem {
  // At most two units a character: a text of a mebibyte is not taken apart to be counted.
  const isLong = text.length > 2 * CRON_EXPRESSION_CHARACTERS_MAX
  if (isLong || Array.from(text).length > CRON_EXPRESSION_CHARACTERS_MAX) {
    return { problem: `must not be greater than ${CRON_EXPRESSION_CHARACTERS_MAX} characters.` }
  }
  const parts = text.split(/[ \t]+/).filter((part) => part !== '')
  if (text.trimStart().startsWith('@')) {
    return { problem: `must have ${FORM}; names such as ${shown(parts[0] ?? '')} are not allowed.` }
  }
  if (parts.length !== FIELDS.length) return { problem: `must have ${FORM}; this one has ${parts.length}.` }
  const sets: Array<ReadonlySet<number>> = []
  for (const [index, field] of FIELDS.entries()) {
    const read = readField(field, parts[index] as string)
    if ('problem' in read) return read
    sets.push(read)
  }
  const [minutes, hours, daysOfMonth, months, weekdays] = sets as unknown as FieldsOf<ReadonlySet<number>>
  const [minutePart, hourPart, dayPart, , weekdayPart] = parts as unknown as FieldsOf<string>
  const expression: CronExpression = Object.freeze({
    text,
    minutes: ascending(minutes),
    hours: ascending(hours),
    months,
    daysOfMonth,
    daysOfWeek: new Set([...weekdays].map((day) => day % 7)),
    isEitherDay: !isOpen(dayPart) && !isOpen(weekdayPart),
    isPaced: /[*/]/.test(minutePart) || /[*/]/.test(hourPart),
  })
  return neverComes(expression) ?? expression
}

/** `*` leaves a day field open, in a list too; anything else restricts it, a longer step and all days by name too. */
function isOpen(part: string): boolean {
  return part.split(',').some((item) => item === '*' || item === '*/1')
}

function ascending(set: ReadonlySet<number>): readonly number[] {
  return Object.freeze([...set].toSorted((a, b) => a - b))
}

function readField(field: Field, part: string): ReadonlySet<number> | CronProblem {
  const values = new Set<number>()
  for (const item of part.split(',')) {
    const range = readItem(field, item)
    if ('problem' in range) return range
    for (let value = range.from; value <= range.to; value += range.step) values.add(value)
  }
  return values
}

interface Steps {
  readonly from: number
  readonly to: number
  readonly step: number
}

function readItem(field: Field, item: string): Steps | CronProblem {
  const refused = (why: string): CronProblem => ({ problem: `has ${shown(item)} as ${field.name}: ${why}.` })
  const match = ITEM.exec(item)
  if (match === null) return refused(allowedIn(field))
  const [, star, first = '', end, stepText] = match
  const from = star === undefined ? valueOf(field, first) : field.first
  const isOne = star === undefined && stepText === undefined
  const to = end === undefined ? (isOne ? from : field.last) : endOf(field, end, from)
  if (from === null || to === null) return refused(allowedIn(field))
  if (from > to) return refused('its range ends before it begins')
  const step = Number(stepText ?? 1)
  const stepMax = field.last - field.first
  if (step < 1 || step > stepMax) return refused(`a step is 1 to ${stepMax}`)
  return { from, to, step }
}

function valueOf(field: Field, text: string): number | null {
  const named = field.names.indexOf(text.toUpperCase())
  const value = named === -1 ? Number(text) : field.first + named
  return Number.isInteger(value) && value >= field.first && value <= field.max ? value : null
}

/** As the end of a range Sunday is the day after Saturday: `FRI-SUN`. `SUN-SUN` is one day. */
function endOf(field: Field, text: string, from: number | null): number | null {
  const isSunday = field.names[0] === SUNDAY && text.toUpperCase() === SUNDAY
  return isSunday && from !== field.first ? field.max : valueOf(field, text)
}

function allowedIn({ first, max, names }: Field): string {
  const named = names.length === 0 ? '' : `, ${names[0]} to ${names.at(-1)}`
  return `allowed are ${first} to ${max}${named}, ranges a-b, steps */n and lists of these`
}

function shown(text: string): string {
  const characters = Array.from(text)
  return characters.length <= SHOWN_CHARACTERS_MAX
    ? JSON.stringify(text)
    : JSON.stringify(`${characters.slice(0, SHOWN_CHARACTERS_MAX).join('')}…`)
}

/** A day of the week comes in every month; a day of the month may come in none of those named. */
function neverComes({ isEitherDay, daysOfMonth, months }: CronExpression): CronProblem | null {
  const first = Math.min(...daysOfMonth)
  if (isEitherDay || [...months].some((month) => first <= (MONTH_DAYS[month - 1] ?? 0))) return null
  return { problem: `never comes: none of its months has a day ${first}.` }
}
