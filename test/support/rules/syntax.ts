import { parseAst } from 'vitest/node'

/** A node of the syntax tree, with its place in the text. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [property: string]: unknown
}

/** Every node of a TypeScript file. @param path tells whether the file holds JSX */
export function nodesOf(path: string, text: string): readonly Node[] {
  const program = parseAst(text, { lang: path.endsWith('.tsx') ? 'tsx' : 'ts' })
  return [...walk(program as unknown as Node)]
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

export function* walk(node: Node): Generator<Node> {
  yield node
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* walk(child)
  }
}

/** Answers the line of a place in the text, from 1. */
export function lineCounter(text: string): (offset: number) => number {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index)
  return (offset) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ends[middle]! < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}
