/** A key of a Secret of Kubernetes. */
export interface SecretKey {
  readonly name: string
  readonly key: string
}

/** Stands in a text for the value of a Secret: no text of a manifest holds this character. */
const EDGE = '\u0000'
const MARK = new RegExp(`${EDGE}([^/${EDGE}]*)/([^${EDGE}]*)${EDGE}`, 'u')

export function markOf({ name, key }: SecretKey): string {
  return `${EDGE}${name}/${key}${EDGE}`
}

export function hasMark(text: string): boolean {
  return text.includes(EDGE)
}

/** The key whose value is the whole text; null = the text holds something else as well. */
export function wholeMark(text: string): SecretKey | null {
  const [mark, name = '', key = ''] = MARK.exec(text) ?? []
  return mark === text ? { name, key } : null
}

/** The text as a person would write it, with `$KEY` for each value of a Secret. */
export function withoutMarks(text: string): string {
  return text.replaceAll(new RegExp(MARK, 'gu'), (_, name: string, key: string) => `<${name}/${key}>`)
}
