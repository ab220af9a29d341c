import { isNode, type Document, type LineCounter } from 'yaml'
import { fieldName, type FieldPath, type FieldProblem } from '../schema/field-path.ts'
import { createResourceMaker } from './resource-maker.ts'
import type { CheckedResource, Fields, FormerResources, Made } from './resource-maker.ts'
import { identityOf, type ManifestPlace, type ManifestProblem } from '../resource.ts'
import { entriesOf } from './manifest-list.ts'
import { faultText, isBlank, leadingZeros, parseManifest } from './yaml-documents.ts'

export interface ReadResource extends CheckedResource, ManifestPlace {}

/** The resources of a file, and its problems. With any problem nothing of the file must be applied. */
export interface ReadManifest {
  readonly resources: readonly ReadResource[]
  readonly problems: readonly ManifestProblem[]
}

export interface ManifestReader {
  /**
   * Reads YAML with any number of documents, or JSON, and lists item by item. Skips what is of other API groups.
   * @param file names the file in problems
   * @param former the applied version of the file, as some changes are not allowed
   */
  read(file: string, text: string, former?: readonly ReadResource[]): ReadManifest
}

const DOCUMENTS_MAX = 1000

/** @param defaultTeam the team of manifests without a namespace */
export function createManifestReader(defaultTeam: string): ManifestReader {
  const make = createResourceMaker(defaultTeam)
  return {
    read: (file, text, former = []) => {
      const byIdentity: FormerResources = new Map(
        former.flatMap(({ resource, checked }) =>
          checked === null ? [] : [[identityOf(resource), checked]],
        ),
      )
      try {
        return readManifest(file, text, (fields) => make(fields, byIdentity))
      } catch (error) {
        return {
          resources: [],
          problems: [
            { file, document: null, item: null, line: null, field: null, reason: notEvaluated(error) },
          ],
        }
      }
    },
  }
}

function readManifest(file: string, text: string, make: (fields: Fields) => Made): ReadManifest {
  const { documents, lines } = parseManifest(text)
  const resources: ReadResource[] = []
  const problems: ManifestProblem[] = []
  const whole = (reason: string) => ({
    resources: [],
    problems: [...problems, { file, document: null, item: null, line: null, field: null, reason }],
  })
  let count = documents.length
  if (count > DOCUMENTS_MAX) return whole(`has ${count} documents; at most ${DOCUMENTS_MAX} are allowed.`)
  for (const [index, document] of documents.entries()) {
    const report = (item: number | null, line: number | null, field: string | null, reason: string) =>
      void problems.push({ file, document: index + 1, item, line, field, reason })
    const reportAt = (item: number | null, outer: FieldPath, { path, reason }: FieldProblem) =>
      report(item, lineOf(document, [...outer, ...path], lines), fieldName(path) || null, reason)
    const fault = document.errors[0] ?? document.warnings[0]
    if (fault !== undefined) {
      report(null, lines.linePos(fault.pos[0]).line, null, `is not YAML: ${faultText(fault)}.`)
      continue
    }
    if (isBlank(document)) continue
    const found = entriesOf(document)
    if ('problems' in found) {
      for (const problem of found.problems) reportAt(null, [], problem)
      continue
    }
    const { entries } = found
    count += Math.max(0, entries.length - 1)
    if (count > DOCUMENTS_MAX) {
      reportAt(null, [], { path: ['items'], reason: tooLong(entries.length) })
      return { resources: [], problems }
    }
    for (const { item, path, node, read } of entries) {
      const made = 'problem' in read ? { problems: [read.problem] } : makeResource(read.fields, node, make)
      if ('problems' in made) for (const problem of made.problems) reportAt(item, path, problem)
      else if (made.made !== null) resources.push({ ...made.made, document: index + 1, item })
    }
  }
  if (documents.every(isBlank)) return whole('has no resource: it is empty, or has only comments.')
  return { resources, problems }
}

function tooLong(items: number): string {
  const most = `a file may have at most ${DOCUMENTS_MAX} documents, and each item of a list counts as one`
  return `${items} items are too many: ${most}.`
}

function makeResource(fields: Fields, node: unknown, make: (fields: Fields) => Made): Made {
  try {
    return withoutAmbiguity(node, make(fields))
  } catch (error) {
    return { problems: [{ path: [], reason: notEvaluated(error) }] }
  }
}

/** Refuses a resource that kubectl would read otherwise. */
function withoutAmbiguity(node: unknown, made: Made): Made {
  if ('problems' in made || made.made === null) return made
  const paths = isNode(node) ? leadingZeros(node) : []
  const reason = 'begins with a zero, which kubectl reads as octal: write it without.'
  return paths.length === 0 ? made : { problems: paths.map((path) => ({ path, reason })) }
}

/** A defect that one manifest reveals must keep neither the others nor the program from starting. */
function notEvaluated(error: unknown): string {
  return `cannot be evaluated: ${faultText(error)}.`
}

/** Finds the line of the field, or of its nearest parent that exists. */
function lineOf(document: Document, path: FieldPath, lines: LineCounter): number | null {
  for (let length = path.length; length >= 0; length -= 1) {
    const part = path.slice(0, length)
    const node: unknown = length === 0 ? document.contents : nodeAt(document, part)
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null
    if (Array.isArray(range)) return lines.linePos(Number(range[0])).line
  }
  return null
}

function nodeAt(document: Document, path: FieldPath): unknown {
  try {
    return document.getIn(path, true)
  } catch {
    // The path goes through an alias.
    return null
  }
}
