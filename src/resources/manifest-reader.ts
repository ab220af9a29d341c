import type { Document, LineCounter } from 'yaml'
import { egressEntryProblem } from '../domain/egress-list.ts'
import { readerOfCrd, shown } from './crd-schema.ts'
import type { SpecReader } from './crd-schema.ts'
import { fieldName } from './field-path.ts'
import type { FieldPath, FieldProblem } from './field-path.ts'
import type { HttpQueueSpec, TeamSettingsSpec } from './generated/kinds.ts'
import { settingsOfSpec } from './queue-spec.ts'
import { API_VERSION } from './resource.ts'
import type { ManifestProblem, Resource } from './resource.ts'
import { secretDataOf } from './secret-data.ts'
import { isBlank, parseManifest } from './yaml-documents.ts'

/** A resource and the document of its file that holds it, from 1. */
export interface ReadResource {
  readonly resource: Resource
  readonly document: number
}

/** What a file says. With any problem the file as a whole is not to be used. */
export interface ReadManifest {
  readonly resources: readonly ReadResource[]
  readonly problems: readonly ManifestProblem[]
}

export interface ManifestReader {
  /**
   * Reads YAML of any number of documents; JSON is YAML. Documents of other API groups are passed over.
   * @param file its name, for the problems
   */
  read(file: string, text: string): ReadManifest
}

const DOCUMENTS_MAX = 1000
const KINDS = `HttpQueue and TeamSettings of ${API_VERSION}, and Secret of v1`
const TOP_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status'])
const DNS_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const NAME_CHARACTERS_MAX = 253

type Fields = Readonly<Record<string, unknown>>

/** A document made out: a resource, nothing of ours, or what is wrong with it. */
type Made = { readonly resource: Resource | null } | { readonly problems: readonly FieldProblem[] }

/**
 * Compiles the schemas once.
 * @param defaultTeam the team of manifests without a namespace
 */
export function createManifestReader(defaultTeam: string): ManifestReader {
  const queueSpec = readerOfCrd('httpqueues.punctual.dev.yaml')
  const teamSpec = readerOfCrd('teamsettings.punctual.dev.yaml')
  const make = (fields: Fields): Made => {
    const head = readHead(fields, defaultTeam)
    if ('problems' in head) return head
    if (fields.apiVersion === 'v1' && fields.kind === 'Secret') return makeSecret(fields, head)
    const group = String(fields.apiVersion).split('/')[0]
    if (group !== 'punctual.dev' && fields.kind !== 'List') return { resource: null }
    if (fields.apiVersion === API_VERSION && fields.kind === 'HttpQueue') {
      return makeQueue(fields, head, queueSpec)
    }
    if (fields.apiVersion === API_VERSION && fields.kind === 'TeamSettings') {
      return makeTeamSettings(fields, head, teamSpec)
    }
    const given = `${String(fields.kind)} of ${String(fields.apiVersion)}`
    return { problems: [{ path: ['kind'], reason: `${given} is not known here: ${KINDS} are.` }] }
  }
  return { read: (file, text) => readManifest(file, text, make) }
}

function readManifest(file: string, text: string, make: (fields: Fields) => Made): ReadManifest {
  const { documents, lines } = parseManifest(text)
  const resources: ReadResource[] = []
  const problems: ManifestProblem[] = []
  const report = (document: number | null, line: number | null, field: string | null, reason: string) =>
    void problems.push({ file, document, line, field, reason })
  if (documents.length > DOCUMENTS_MAX) {
    report(null, null, null, `holds ${documents.length} documents; at most ${DOCUMENTS_MAX} are allowed.`)
    return { resources, problems }
  }
  documents.forEach((document, index) => {
    const fault = document.errors[0] ?? document.warnings[0]
    if (fault !== undefined) {
      report(index + 1, lines.linePos(fault.pos[0]).line, null, `is not YAML: ${fault.message}`)
      return
    }
    if (isBlank(document)) return
    const made = makeDocument(document, make)
    if ('problems' in made) {
      for (const { path, reason } of made.problems) {
        const field = path.length === 0 ? null : fieldName(path)
        report(index + 1, lineOf(document, path, lines), field, reason)
      }
    } else if (made.resource !== null) resources.push({ resource: made.resource, document: index + 1 })
  })
  if (documents.every(isBlank)) {
    report(null, null, null, 'holds no resource: it is empty, or all of it is comments.')
  }
  return { resources, problems }
}

function makeDocument(document: Document, make: (fields: Fields) => Made): Made {
  let fields: unknown
  try {
    fields = document.toJS()
  } catch (error) {
    // Aliases that multiply beyond bounds.
    return {
      problems: [
        { path: [], reason: `cannot be read: ${error instanceof Error ? error.message : String(error)}.` },
      ],
    }
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    return { problems: [{ path: [], reason: `${shown(fields)} must be a map with apiVersion and kind.` }] }
  }
  return make(fields as Fields)
}

interface Head {
  readonly team: string
  readonly name: string
}

function readHead(
  fields: Fields,
  defaultTeam: string,
): Head | { readonly problems: readonly FieldProblem[] } {
  const problems: FieldProblem[] = []
  for (const field of ['apiVersion', 'kind'] as const) {
    if (typeof fields[field] !== 'string') problems.push({ path: [field], reason: `is required: ${KINDS}.` })
  }
  const metadata = typeof fields.metadata === 'object' && fields.metadata !== null ? fields.metadata : {}
  const { name, namespace } = metadata as Readonly<Record<string, unknown>>
  const team = namespace ?? defaultTeam
  const isName = typeof name === 'string' && DNS_NAME.test(name) && name.length <= NAME_CHARACTERS_MAX
  const isTeam = typeof team === 'string' && DNS_LABEL.test(team)
  if (!isName) {
    const reason = 'must be a name of lower-case letters, digits, - and ., at most 253 characters.'
    problems.push({ path: ['metadata', 'name'], reason: `${shown(name)} ${reason}` })
  }
  if (!isTeam) {
    const reason = 'must be a name of lower-case letters, digits and -, at most 63 characters.'
    problems.push({ path: ['metadata', 'namespace'], reason: `${shown(team)} ${reason}` })
  }
  return isName && isTeam && problems.length === 0 ? { team, name } : { problems }
}

function makeQueue(fields: Fields, head: Head, reader: SpecReader): Made {
  const read = readSpec(fields, reader)
  if ('problems' in read) return read
  const spec = read.spec as HttpQueueSpec
  const { settings, problems } = settingsOfSpec(spec)
  if (problems.length > 0) return { problems: problems.map(inSpec) }
  return { resource: { kind: 'HttpQueue', ...head, queueName: spec.queueName ?? head.name, settings } }
}

function makeTeamSettings(fields: Fields, { team, name }: Head, reader: SpecReader): Made {
  const read = readSpec(fields, reader)
  const problems: FieldProblem[] = 'problems' in read ? [...read.problems] : []
  if (name !== 'team') {
    problems.push({
      path: ['metadata', 'name'],
      reason: `${shown(name)} must be team: a team has one TeamSettings.`,
    })
  }
  const spec: Partial<TeamSettingsSpec> = 'problems' in read ? {} : (read.spec as TeamSettingsSpec)
  const egressAllow = spec.egress?.allow ?? []
  egressAllow.forEach((entry, index) => {
    const reason = egressEntryProblem(entry)
    if (reason !== null) problems.push(inSpec({ path: ['egress', 'allow', index], reason }))
  })
  if (problems.length > 0) return { problems }
  const signingSecretRefs = spec.signing?.secretRefs ?? []
  return { resource: { kind: 'TeamSettings', team, name: 'team', egressAllow, signingSecretRefs } }
}

function makeSecret(fields: Fields, head: Head): Made {
  const { data, problems } = secretDataOf(fields)
  return problems.length > 0 ? { problems } : { resource: { kind: 'Secret', ...head, data } }
}

/** What the folder does not use is allowed where Kubernetes writes it: labels, uid and the like, and status. */
function readSpec(fields: Fields, reader: SpecReader): ReturnType<SpecReader> {
  const unknown = Object.keys(fields).find((name) => !TOP_FIELDS.has(name))
  if (unknown !== undefined) {
    const reason = `is not a known field; known here: ${[...TOP_FIELDS].join(', ')}.`
    return { problems: [{ path: [unknown], reason }] }
  }
  if (fields.spec === undefined || fields.spec === null) {
    return { problems: [{ path: ['spec'], reason: 'is required; spec: {} takes every default.' }] }
  }
  const read = reader(fields.spec)
  return 'problems' in read ? { problems: read.problems.map(inSpec) } : read
}

function inSpec(problem: FieldProblem): FieldProblem {
  return { ...problem, path: ['spec', ...problem.path] }
}

/** The line of the field, or of the nearest one above it that is there. */
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
    // The path leads through an alias.
    return null
  }
}
