import { parse, stringify } from 'yaml'
import { printable } from './text-table.ts'
import type { View } from './view.ts'

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

export interface ReceivedAnswer<Body> {
  /** As it came. */
  readonly text: string
  readonly body: Body
}

/** What is printed of an answer. `json` is the answer as it came: numbers keep their digits. */
export function answerText<Body>(
  { text, body }: ReceivedAnswer<Body>,
  format: OutputFormat,
  view: View<Body>,
): string {
  switch (format) {
    case 'json':
      return `${text}\n`
    case 'yaml':
      // JSON is YAML; numbers beyond 2^53 keep their digits as well.
      return printable(stringify(parse(text, { intAsBigInt: true })))
    case 'name':
      return printable(linesOf(view.names(body)))
    default:
      return view.text(body, format === 'wide')
  }
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
