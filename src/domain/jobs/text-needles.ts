/** Characters that JSON must or may escape. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\/\u0000-\u001f\u007f-\uffff]/
const BEYOND_ASCII = /[\u0080-\uffff]/

/**
 * Texts to look for where JSON is kept as it was written: a program that sent `é`, `"` or `/` may have escaped it. In
 * lower case of ASCII letters, as what they are looked for in has to be.
 */
export function needlesOf(text: string): readonly string[] {
  if (!ESCAPED.test(text)) return [asciiLower(text)]
  const escaped = JSON.stringify(text).slice(1, -1)
  const spellings = [text, escaped, asAscii(escaped)]
  const needles = spellings.flatMap((spelling) => [spelling, spelling.replaceAll('/', String.raw`\/`)])
  return [...new Set(needles.map(asciiLower))]
}

/** Whether one of the needles is in the text, in any case of ASCII letters. */
export function holdsNeedle(text: string, needles: readonly string[]): boolean {
  const lower = asciiLower(text)
  return needles.some((needle) => lower.includes(needle))
}

function asAscii(escaped: string): string {
  return escaped.replace(
    /[\u007f-\uffff]/g,
    (unit) => String.raw`\u` + unit.charCodeAt(0).toString(16).padStart(4, '0'),
  )
}

/** One function for all of Unicode would also change letters by what stands beside them. */
function asciiLower(text: string): string {
  if (!/[A-Z]/.test(text)) return text
  return BEYOND_ASCII.test(text)
    ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    : text.toLowerCase()
}
