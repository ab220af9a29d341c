import { formatBytes } from '../../../../format/numbers.ts'

/** What was not UTF-8 is kept as this character. */
const REPLACED = '\uFFFD'

/** What a body is, and how much of it is there. @param type its `Content-Type`, if it had one that may be seen */
export function bodyNote(body: string, type: string | undefined, isCut: boolean): string {
  const bytes = formatBytes(new TextEncoder().encode(body).length)
  return [
    ...(type === undefined || type === '(hidden)' ? [] : [type]),
    isCut ? `cut: its first ${bytes} were kept` : bytes,
    // oxlint-disable-next-line no-control-regex -- that it has them is what is asked
    ...(body.includes(REPLACED) || /[\0-\x08]/.test(body)
      ? [`not text: other bytes are shown as ${REPLACED}`]
      : []),
  ].join(', ')
}
