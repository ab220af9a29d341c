/**
 * What a table says of a value of the API. A page stays open while the API is updated, so a value may come that the page
 * does not know.
 */
export function entryOf<Value extends string, Entry>(
  table: Readonly<Record<Value, Entry>>,
  value: Value,
  otherwise: (name: string) => Entry,
): Entry {
  return Object.hasOwn(table, value) ? table[value] : otherwise(value)
}

/** Its text; a value that the page does not know reads as the API writes it. */
export function textOf<Value extends string>(texts: Readonly<Record<Value, string>>, value: Value): string {
  return entryOf(texts, value, (name) => name)
}
