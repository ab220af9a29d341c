import { printable, withoutControls } from './text-table.ts'
import type { View } from './view.ts'
import { yamlOfJson } from './yaml.ts'

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

export interface ReceivedAnswer<Body> {
  /** The body as it came. */
  readonly text: string
  readonly body: Body
}

/**
 * Prints an answer. `json` is the answer as it came, so that numbers keep their digits.
 * @param width of the terminal, to which `table` keeps; null = there is none
 */
export function answerText<Body>(
  { text, body }: ReceivedAnswer<Body>,
  { format, width }: { readonly format: OutputFormat; readonly width: number | null },
  view: View<Body>,
): string {
  switch (format) {
    case 'json':
      return `${text}\n`
    case 'yaml':
      return withoutControls(yamlOfJson(text))
    case 'name':
      return printable(linesOf(view.names(body)))
    default:
      return format === 'wide'
        ? view.text(body, { isWide: true, width: null })
        : view.text(body, { isWide: false, width })
  }
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
