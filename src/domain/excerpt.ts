/**
 * The beginning of a text, at most `charactersMax` UTF-16 units including the ellipsis. It never ends within a surrogate
 * pair, because JSON readers refuse half a character.
 */
export function excerpt(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const kept = text.slice(0, charactersMax - 1)
  const isHalved = /[\uD800-\uDBFF]$/.test(kept)
  return `${isHalved ? kept.slice(0, -1) : kept}…`
}
