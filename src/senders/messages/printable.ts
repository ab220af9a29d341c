import { excerpt } from '../../domain/excerpt.ts'

const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/** Bidirectional overrides, joiners, tags, and the letters that show as nothing. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/**
 * A text of others as one line that shows what it contains: without line breaks, control characters and whatever could
 * hide or reorder what stands beside it. Its markup remains, for the renderers to escape.
 * @param charactersMax UTF-16 units
 */
export function printable(text: string, charactersMax: number): string {
  const line = text.toWellFormed().replace(BREAKS, ' ').replace(INVISIBLE, '').trim()
  return excerpt(line, charactersMax)
}

/** The beginning of a text, escaped and no longer than `charactersMax` after that. */
export function escapedExcerpt(
  text: string,
  charactersMax: number,
  escape: (text: string) => string,
): string {
  let kept = text
  let escaped = escape(kept)
  while (escaped.length > charactersMax && kept.length > 1) {
    const share = Math.floor((kept.length * charactersMax) / escaped.length)
    kept = excerpt(text, Math.max(1, Math.min(kept.length - 1, share)))
    escaped = escape(kept)
  }
  return escaped
}
