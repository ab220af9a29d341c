import { describe, expect, it } from 'vitest'
import { patchSpecText, removeResources } from '../../../../src/resources/manifests/manifest-text.ts'

const place = (item: number | null, document = 1) => ({ document, item })
const HEAD = 'apiVersion: v1 # of the core\nkind: List\nmetadata: { resourceVersion: "" }\n'

const A = `- apiVersion: punctual.dev/v1alpha1
  kind: HttpQueue
  metadata: { name: a } # the name
  spec:
    # how long
    timeoutSeconds: 0x1E # half a minute
    retryDelays:
    - 5 # short
    - 10
    # nothing more
`
const B = `-
  # below its dash
  apiVersion:   "punctual.dev/v1alpha1"
  kind: HttpQueue
  metadata: { name: b }
`
const C = `- kind: HttpQueue
  apiVersion: punctual.dev/v1alpha1
  metadata: { name: c }
  spec: { retryDelays: [ 010, 0x1E ] }
`
const ITEMS = `# before all

# before a
${A}
# behind a

# before b
# and b again
${B}# before c
${C}
# behind all
`
const LIST = `# head\n${HEAD}items:\n${ITEMS}`
const indented = (text: string) => text.replaceAll(/^(?=.)/gm, '  ')

/** The same list as some write it: the items further in, or another field below them. */
const FORMS = {
  'as kubectl prints it': { text: LIST, indent: (text: string) => text },
  'further in': { text: `# head\n${HEAD}items:\n${indented(ITEMS)}`, indent: indented },
  'above another field': { text: `items:\n${ITEMS}${HEAD}`, indent: (text: string) => text },
  'in an indented document': { text: indented(`items:\n${ITEMS}${HEAD}`), indent: indented },
  'in one of several documents': {
    text: `# first\na:   { b: 0x1 }\n---\n${LIST}---\n# last\nc:   [ 1 ]\n`,
    indent: (text: string) => text,
  },
}

describe.each(Object.entries(FORMS))('a list %s', (form, { text, indent }) => {
  const at = (item: number) => place(item, form === 'in one of several documents' ? 2 : 1)

  it('is changed in one item; all other text stays as it is', () => {
    const edited = A.replace('0x1E', '45').replace('{ name: a }', '{name: a}')
    // Lists in an item stand as far in as the list of items does.
    const lists = indent('x') !== 'x' ? edited.replaceAll(/^ {4}(?=- |# nothing)/gm, '      ') : edited
    const wanted = text.replace(indent(A), indent(`${lists}    active: false\n`))
    expect(patchSpecText(text, at(1), { timeoutSeconds: 45, active: false })).toBe(wanted)
  })

  it('is changed in an item below its dash, and in one without a spec', () => {
    const edited = patchSpecText(text, at(2), { timeoutSeconds: 7 }) ?? ''
    const [before = '', after = ''] = text.split(indent(B))
    expect(edited.startsWith(before)).toBe(true)
    expect(edited.endsWith(after)).toBe(true)
    expect(edited).toContain('# below its dash\n')
    expect(edited.slice(before.length)).toContain(
      indent('  metadata: {name: b}\n  spec:\n    timeoutSeconds: 7\n'),
    )
  })

  it('is changed in its last item', () => {
    expect(patchSpecText(text, at(3), { retryDelays: [1] })).toBe(
      text
        .replace('{ name: c }', '{name: c}')
        .replace('{ retryDelays: [ 010, 0x1E ] }', '{retryDelays: [1]}'),
    )
  })

  it('loses an item with the comment lines directly above it', () => {
    expect(removeResources(text, [at(1)])).toBe(text.replace(indent(`# before a\n${A}`), ''))
    expect(removeResources(text, [at(2)])).toBe(text.replace(indent(`# before b\n# and b again\n${B}`), ''))
    expect(removeResources(text, [at(3)])).toBe(text.replace(indent(`# before c\n${C}`), ''))
    expect(removeResources(text, [at(2), at(1)])).toBe(
      text.replace(indent(`# before b\n# and b again\n${B}`), '').replace(indent(`# before a\n${A}`), ''),
    )
  })

  it('is removed with its last item, as a document is', () => {
    const all = [at(3), at(1), at(2)]
    const [first, , last] = text.split('---\n')
    const rest = form === 'in one of several documents' ? `${first}---\n${last}` : null
    expect(removeResources(text, all)).toBe(rest)
  })
})

describe('a list', () => {
  it('without items stays when something else is removed', () => {
    const empty = 'apiVersion: v1\nkind: List\nitems:   [ ]\n'
    expect(removeResources(`a: 1\n---\n${empty}`, [place(null)])).toBe(empty)
  })

  it('in flow style is changed and loses items too', () => {
    const text = `${HEAD}items: [{ metadata: { name: a }, spec: {} }, { metadata: { name: b }, spec: {} }] # both\n`
    const head = `${HEAD.replace('{ resourceVersion: "" }', '{resourceVersion: ""}')}items: `
    expect(patchSpecText(text, place(2), { timeoutSeconds: 7 })).toBe(
      `${head}[{metadata: {name: a}, spec: {}}, {metadata: {name: b}, spec: {timeoutSeconds: 7}}] # both\n`,
    )
    expect(removeResources(text, [place(1)])).toBe(`${head}[{metadata: {name: b}, spec: {}}] # both\n`)
    expect(removeResources(text, [place(1), place(2)])).toBeNull()
  })

  it('that is JSON stays JSON, indented as it was', () => {
    const item = (name: string, spec: object = {}) => ({ metadata: { name }, spec })
    const json = (...items: readonly object[]) =>
      `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 4)}\n`
    const text = json(item('a'), item('b'))
    expect(patchSpecText(text, place(2), { timeoutSeconds: 7 })).toBe(
      json(item('a'), item('b', { timeoutSeconds: 7 })),
    )
    expect(removeResources(text, [place(1)])).toBe(json(item('b')))
    expect(removeResources(text, [place(1), place(2)])).toBeNull()
    expect(patchSpecText(text, place(3), {})).toBeNull()
  })

  it('keeps aliases of other items', () => {
    const text = `${HEAD}items:\n- metadata: &m { name: a }\n  spec: {}\n- metadata: *m\n  spec:\n    retryDelays: [1]\n`
    expect(patchSpecText(text, place(2), { retryDelays: [2] })).toBe(text.replace('[1]', '[2]'))
  })

  it('is left alone where an alias stands, or no such item', () => {
    const text = `${HEAD}items:\n- &a\n  spec: &s {}\n- *a\n- spec: *s\n- spec:\n    signing: { secretRefs: [{ name: *s }] }\n`
    for (const item of [2, 3, 5]) expect(patchSpecText(text, place(item), { timeoutSeconds: 7 })).toBeNull()
    expect(patchSpecText(text, place(4), { signing: { secretRefs: [{ name: 'x' }] } })).toBeNull()
    expect(patchSpecText('a: 1\n', place(1), { timeoutSeconds: 7 })).toBeNull()
  })

  it('keeps the line breaks of Windows', () => {
    const text = `${HEAD}items:\n- spec:\n    timeoutSeconds: 5\n- spec: {}\n`.replaceAll('\n', '\r\n')
    expect(patchSpecText(text, place(1), { timeoutSeconds: 7, active: true })).toBe(
      text.replace('5\r\n', '7\r\n    active: true\r\n'),
    )
    expect(removeResources(text, [place(1)])).toBe(text.replace('- spec:\r\n    timeoutSeconds: 5\r\n', ''))
  })

  it('may end without a line break', () => {
    const text = `${HEAD}items:\n- spec: {}\n- spec: {}`
    expect(patchSpecText(text, place(2), { timeoutSeconds: 7 })).toBe(
      `${HEAD}items:\n- spec: {}\n- spec: {timeoutSeconds: 7}\n`,
    )
    expect(removeResources(text, [place(2)])).toBe(`${HEAD}items:\n- spec: {}\n`)
  })
})
