import type { Document, LineCounter } from 'yaml'
import { shown } from '../schema/crd-schema.ts'
import { fieldName, type FieldPath } from '../schema/field-path.ts'
import { createResourceMaker } from './resource-maker.ts'
import type { CheckedResource, Fields, FormerResources, Made } from './resource-maker.ts'
import { identityOf, type ManifestProblem } from '../resource.ts'
import { faultText, isBlank, parseManifest } from './yaml-documents.ts'

export interface ReadResource extends CheckedResource {
  /** The number of its document in the file, from 1. */
  readonly document: number
}

/** The content of a file. With any problem, the whole file must not be applied. */
export interface ReadManifest {
  readonly resources: readonly ReadResource[]
  readonly problems: readonly ManifestProblem[]
}

export interface ManifestReader {
  /**
   * Reads YAML with any number of documents, or JSON. Skips documents of other API groups.
   * @param file its name, for the problems
   * @param former the applied version of the file: some changes are not allowed
   */
  read(file: string, text: string, former?: readonly ReadResource[]): ReadManifest
}

const DOCUMENTS_MAX = 1000

/**
 * Compiles the schemas once.
 * @param defaultTeam the team of manifests without a namespace
 */
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
          problems: [{ file, document: null, line: null, field: null, reason: notEvaluated(error) }],
        }
      }
    },
  }
}

function readManifest(file: string, text: string, make: (fields: Fields) => Made): ReadManifest {
  const { documents, lines } = parseManifest(text)
  const resources: ReadResource[] = []
  const problems: ManifestProblem[] = []
  const report = (document: number | null, line: number | null, field: string | null, reason: string) =>
    void problems.push({ file, document, line, field, reason })
  if (documents.length > DOCUMENTS_MAX) {
    report(null, null, null, `has ${documents.length} documents; at most ${DOCUMENTS_MAX} are allowed.`)
    return { resources, problems }
  }
  documents.forEach((document, index) => {
    const fault = document.errors[0] ?? document.warnings[0]
    if (fault !== undefined) {
      report(index + 1, lines.linePos(fault.pos[0]).line, null, `is not YAML: ${faultText(fault)}.`)
      return
    }
    if (isBlank(document)) return
    const made = makeDocument(document, make)
    if ('problems' in made) {
      for (const { path, reason } of made.problems) {
        const field = path.length === 0 ? null : fieldName(path)
        report(index + 1, lineOf(document, path, lines), field, reason)
      }
    } else if (made.made !== null) resources.push({ ...made.made, document: index + 1 })
  })
  if (documents.every(isBlank)) {
    report(null, null, null, 'has no resource: it is empty, or has only comments.')
  }
  return { resources, problems }
}

function makeDocument(document: Document, make: (fields: Fields) => Made): Made {
  let fields: unknown
  try {
    fields = document.toJS()
  } catch (error) {
    // Aliases that expand beyond the bound or have no anchor.
    return { problems: [{ path: [], reason: `cannot be read: ${faultText(error)}.` }] }
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    return { problems: [{ path: [], reason: `${shown(fields)} must be a map with apiVersion and kind.` }] }
  }
  try {
    return make(fields as Fields)
  } catch (error) {
    return { problems: [{ path: [], reason: notEvaluated(error) }] }
  }
}

/** A defect that one manifest has found must not keep the others, or the program, from starting. */
function notEvaluated(error: unknown): string {
  return `cannot be evaluated: ${faultText(error)}.`
}

/** The line of the field, or of its nearest parent that exists. */
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
