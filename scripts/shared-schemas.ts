/**
 * Schemas that several places of `definitions/` share. The text is put together and not the parsed document, so that
 * comments and the way rules are written stay.
 */

/** Lines of each shared schema by its name, its own keys without indentation. */
export type SharedSchemas = ReadonlyMap<string, readonly string[]>

/** A key of a mapping with all the lines below it, and the comments above it. */
interface Entry {
  readonly key: string
  readonly lines: readonly string[]
}

const REFERENCE = /^( *)\$ref: shared\.yaml#\/(\w+)$/
const ANY_REFERENCE = /^\s*(?:- )?["']?\$ref\b/
/** How deep schemas may take one from another. */
const DEPTH_MAX = 5

/**
 * Reads `shared.yaml`: a name at the start of a line, and its schema below.
 * @throws when a name stands there twice
 */
export function readSharedSchemas(text: string): SharedSchemas {
  const schemas = new Map<string, readonly string[]>()
  for (const { key, lines } of entriesOf(text.split('\n'))) {
    if (schemas.has(key)) throw new Error(`shared.yaml has ${key} twice`)
    const schema = lines.slice(lines.indexOf(`${key}:`) + 1).filter((line) => line !== '')
    schemas.set(
      key,
      schema.map((line) => line.slice(indentOf(schema[0] ?? ''))),
    )
  }
  return schemas
}

/**
 * The text of a definition with each `$ref: shared.yaml#/Name` replaced by that schema, without the keys that stand
 * beside the reference.
 * @throws when a reference names no shared schema, is written in another way, or leads to itself
 */
export function withSharedSchemas(text: string, shared: SharedSchemas): string {
  return expanded(text.split('\n'), shared, 0).join('\n')
}

/** Names that a text refers to. */
export function referencesIn(text: string): string[] {
  return text.split('\n').flatMap((line) => REFERENCE.exec(line)?.[2] ?? [])
}

function expanded(lines: readonly string[], shared: SharedSchemas, depth: number): string[] {
  return lines.flatMap((line, index) => {
    const found = REFERENCE.exec(line)
    if (found === null) {
      if (ANY_REFERENCE.test(line)) throw new Error(`"${line.trim()}" is not $ref: shared.yaml#/Name`)
      return [line]
    }
    const [, indentation = '', name = ''] = found
    const schema = shared.get(name)
    if (schema === undefined) throw new Error(`shared.yaml has no ${name}`)
    if (depth === DEPTH_MAX) throw new Error(`${name} of shared.yaml leads to itself, or too deep`)
    const given = keysBeside(lines, index)
    const kept = entriesOf(expanded(schema, shared, depth + 1)).filter(({ key }) => !given.has(key))
    return kept.flatMap((entry) => entry.lines.map((inner) => `${indentation}${inner}`))
  })
}

/** Keys of the mapping that the line belongs to. */
function keysBeside(lines: readonly string[], index: number): ReadonlySet<string> {
  const depth = indentOf(lines[index] ?? '')
  const isInside = (line: string): boolean => line.trim() === '' || indentOf(line) >= depth
  let from = index
  while (from > 0 && isInside(lines[from - 1] ?? '')) from -= 1
  const end = lines.findIndex((line, at) => at > index && !isInside(line))
  const beside = lines.slice(from, end === -1 ? lines.length : end)
  const own = beside.filter((line) => indentOf(line) === depth).map((line) => keyOf(line.trim()))
  return new Set(own.filter((key) => key !== null))
}

/** The keys of a mapping that is not indented. */
function entriesOf(lines: readonly string[]): Entry[] {
  const entries: { key: string; lines: string[] }[] = []
  let comments: string[] = []
  for (const line of lines) {
    const key = keyOf(line)
    if (key !== null) entries.push({ key, lines: [...comments, line] })
    if (key !== null || line === '') comments = []
    else if (line.startsWith('#')) comments.push(line)
    else entries.at(-1)?.lines.push(line)
  }
  return entries
}

function keyOf(line: string): string | null {
  return /^([$\w-]+):(?: |$)/.exec(line)?.[1] ?? null
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}
