import type { SlicedWork } from '../../../domain/shares/cost-gate.ts'

/** A page of a list, before it is written. */
export interface WrittenList<Row> {
  /** The field of the rows. */
  readonly field: string
  readonly rows: readonly Row[]
  /** null = the row is left out. */
  toWire(row: Row): object | null
  /** The fields after it. */
  readonly rest: object
  /** Writing so many rows takes less than 2 ms; absent = FEW_ROWS. */
  readonly fewRows?: number
}

/** The JSON text of a page, row by row. */
export function* writeList<Row>({ field, rows, toWire, rest }: WrittenList<Row>): SlicedWork<string> {
  const texts: string[] = []
  for (const row of rows) {
    const wire = toWire(row)
    if (wire !== null) texts.push(JSON.stringify(wire))
    yield
  }
  return `{${JSON.stringify(field)}:[${texts.join(',')}],${JSON.stringify(rest).slice(1)}`
}
