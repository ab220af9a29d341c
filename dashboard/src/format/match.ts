/** How well a name fits what was typed: the lower the better; null = not every word is in it. */
export function rankOf(sought: string, name: string): number | null {
  const [text, given] = [sought.trim().toLowerCase(), name.toLowerCase()]
  if (given.startsWith(text)) return given.length === text.length ? 0 : 1
  const words = text.split(/\s+/)
  if (!words.every((word) => given.includes(word))) return null
  const starts = given.split(/[^\p{L}\p{N}]+/u)
  return words.every((word) => starts.some((start) => start.startsWith(word))) ? 2 : 3
}

/** The items that fit, best first; equally good ones keep their order. */
export function matching<Item>(
  sought: string,
  items: readonly Item[],
  nameOf: (item: Item) => string,
): readonly Item[] {
  const found = items.flatMap((item) => {
    const rank = rankOf(sought, nameOf(item))
    return rank === null ? [] : [{ item, rank }]
  })
  return found.toSorted((one, other) => one.rank - other.rank).map(({ item }) => item)
}

/** Whether a name can be typed as it is read: it is not too long, has no more than one space at a time, and no odd character. */
export function isTypable(name: string): boolean {
  return name.length <= 60 && /^[!-~]+(?: [!-~]+)*$/.test(name)
}
