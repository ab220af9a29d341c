/** What a person sees of a definition by `kubectl explain`, which shows descriptions, and neither defaults nor bounds. */
import { isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'

interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** The definition with defaults and bounds in its descriptions; everything else stays as it is written. */
export function explainedDefinition(text: string): string {
  const edits: Edit[] = []
  collect(parseDocument(text).contents, edits, text)
  // From the end on, so that places stay.
  return edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((done, { from, to, text: put }) => `${done.slice(0, from)}${put}${done.slice(to)}`, text)
}

function collect(node: unknown, edits: Edit[], text: string): void {
  if (isSeq(node)) for (const item of node.items) collect(item, edits, text)
  if (!isMap(node)) return
  const description = node.get('description', true)
  const facts = node.has('type') ? factsOf(node) : []
  if (isScalar<string>(description) && description.range && facts.length > 0) {
    const [from, to] = description.range
    const sentence = /[.!?]$/.test(description.value) ? description.value : `${description.value}.`
    // A folded text reaches to the next line.
    const end = text.slice(from, to).endsWith('\n') ? '\n' : ''
    edits.push({ from, to, text: `${JSON.stringify([sentence, ...facts].join(' '))}${end}` })
  }
  for (const { value } of node.items) collect(value, edits, text)
}

function factsOf(node: YAMLMap): string[] {
  const schema = node.toJSON() as Readonly<Record<string, unknown>>
  const [min, max, unit] = boundNames(schema['type'])
  return [
    ...defaultText(schema['default']),
    ...boundsText(schema[min], schema[max], unit),
    ...entriesText(schema['items']),
  ]
}

function boundNames(type: unknown): readonly [min: string, max: string, unit: string] {
  if (type === 'array') return ['minItems', 'maxItems', ' entries']
  return type === 'string' ? ['minLength', 'maxLength', ' characters'] : ['minimum', 'maximum', '']
}

/** What `explain` shows of the entries of a list is what stands at the list. */
function entriesText(items: unknown): string[] {
  const { type, enum: words, ...bounds } = (items ?? {}) as Readonly<Record<string, unknown>>
  if (Array.isArray(words)) return [`Each one of ${words.join(', ')}.`]
  const [min, max, unit] = boundNames(type)
  return boundsText(bounds[min], bounds[max], unit).map(
    (said) => `Each ${said.charAt(0).toLowerCase()}${said.slice(1)}`,
  )
}

/** Empty lists and objects are what one expects. */
function defaultText(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : [`Default: ${value.join(', ')}.`]
  return ['string', 'number', 'boolean'].includes(typeof value) ? [`Default: ${String(value)}.`] : []
}

function boundsText(min: unknown, max: unknown, unit: string): string[] {
  // That an amount is not negative need not be said.
  const isSaid = typeof min === 'number' && min > 0
  if (typeof max !== 'number') return isSaid ? [`At least ${min}${unit}.`] : []
  return [typeof min === 'number' ? `From ${min} to ${max}${unit}.` : `At most ${max}${unit}.`]
}
