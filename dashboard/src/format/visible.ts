/** Marks of direction, spaces without width, ends of line and paragraph, tags, and halves of characters. */
const HIDING = /[\p{Bidi_Control}\u200b\u2060-\u2064\ufeff\p{Zl}\p{Zp}\u{e0000}-\u{e007f}\p{Cs}]/gu
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/**
 * A text from outside with everything in it to be seen: what would reorder a line, hide in it or control a terminal is
 * written out as the command line does it, such as `\u202e` and `\x1b`. Line breaks and tabs stay.
 */
export function visible(text: string): string {
  return text
    .replaceAll(CONTROLS, (character) => `\\x${hexOf(character, 2)}`)
    .replaceAll(HIDING, (character) => `\\u${hexOf(character, 4)}`)
}

function hexOf(character: string, digits: number): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, '0')
}
