import { quotasOf } from '../../domain/quotas.ts'
import { readerOfCrd, shown, type GivenResource, type ResourceReader } from '../schema/crd-schema.ts'
import type { FieldProblem } from '../schema/field-path.ts'
import type {
  ApiTokenSpec,
  HttpCronSpec,
  HttpQueueSpec,
  MaintenanceWindowSpec,
  TeamSettingsSpec,
} from '../generated/kinds.ts'
import { cronProblemsOf, settingsOfCronSpec } from '../cron-spec.ts'
import { settingsOfSpec } from '../queue-spec.ts'
import { headerSecretPlansOf, maskedHeadersOf, signingRefsOf } from '../secret-refs.ts'
import { API_VERSION, identityOf, type Resource } from '../resource.ts'
import { secretDataOf } from '../secret-data.ts'
import { appliedResourcesOf, channelPlansOf, membersOf } from '../team-channels.ts'
import { tokenOfSpec } from '../token-spec.ts'
import { settingsOfWindowSpec, windowProblemsOf } from '../window-spec.ts'

export type Fields = Readonly<Record<string, unknown>>

export interface CheckedResource {
  readonly resource: Resource
  /** The document with defaults, as its schema accepted it; null = it is a Secret. */
  readonly checked: GivenResource | null
  readonly marks: ResourceMarks
}

/** The texts that `metadata` has beside the name. */
export interface ResourceMarks {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** A resource, or problems. null = the document is of another API group. */
export type Made = { readonly made: CheckedResource | null } | { readonly problems: readonly FieldProblem[] }

/** @param former the applied resources of the file, by identity */
export type ResourceMaker = (fields: Fields, former: FormerResources) => Made
export type FormerResources = ReadonlyMap<string, GivenResource>

interface Kind {
  readonly crd: string
  /** Checks what CRD rules cannot express. @param spec checked */
  readonly problemsOf?: (spec: unknown) => readonly FieldProblem[]
  /** @param spec checked */
  readonly make: (head: Head, spec: unknown) => Resource
}

interface Head {
  readonly team: string
  readonly name: string
}

const KINDS: Readonly<Record<string, Kind>> = {
  HttpQueue: {
    crd: 'httpqueues.punctual.dev.yaml',
    make: (head, spec) => {
      const { queueName = head.name } = spec as HttpQueueSpec
      return {
        kind: 'HttpQueue',
        ...head,
        queueName,
        settings: settingsOfSpec(spec as HttpQueueSpec),
        signingSecretRefs: signingRefsOf(spec as HttpQueueSpec),
      }
    },
  },
  HttpCron: {
    crd: 'httpcrons.punctual.dev.yaml',
    problemsOf: (spec) => cronProblemsOf(spec as HttpCronSpec),
    make: (head, spec) => ({
      kind: 'HttpCron',
      ...head,
      settings: settingsOfCronSpec(head.name, spec as HttpCronSpec),
      signingSecretRefs: signingRefsOf(spec as HttpCronSpec),
    }),
  },
  MaintenanceWindow: {
    crd: 'maintenancewindows.punctual.dev.yaml',
    problemsOf: (spec) => windowProblemsOf(spec as MaintenanceWindowSpec),
    make: (head, spec) => ({
      kind: 'MaintenanceWindow',
      ...head,
      settings: settingsOfWindowSpec(spec as MaintenanceWindowSpec),
    }),
  },
  TeamSettings: {
    crd: 'teamsettings.punctual.dev.yaml',
    make: ({ team }, spec) => {
      const { egress, signing, quotas } = spec as TeamSettingsSpec
      return {
        kind: 'TeamSettings',
        team,
        name: 'team',
        egressAllow: egress.allow,
        signingSecretRefs: signing.secretRefs,
        headerSecrets: headerSecretPlansOf(spec as TeamSettingsSpec),
        quotas: quotasOf(quotas),
        channels: channelPlansOf(spec as TeamSettingsSpec),
        members: membersOf(spec as TeamSettingsSpec),
        appliedResources: appliedResourcesOf(spec as TeamSettingsSpec),
        maskedHeaders: maskedHeadersOf(spec as TeamSettingsSpec),
      }
    },
  },
  ApiToken: {
    crd: 'apitokens.punctual.dev.yaml',
    make: ({ team, name }, spec) => ({ kind: 'ApiToken', ...tokenOfSpec(team, name, spec as ApiTokenSpec) }),
  },
}

export const SUPPORTED = `${Object.keys(KINDS).join(', ')} of ${API_VERSION}, and Secret of v1`
const SECRET = { apiVersion: 'v1', kind: 'Secret' } as const
const TOP_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status'])
const DNS_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const NAME_CHARACTERS_MAX = 253

/**
 * Compiles the schema of a kind for the first resource of that kind: all of them would take a third of a start.
 * @param defaultTeam the team of manifests without a namespace
 */
export function createResourceMaker(defaultTeam: string): ResourceMaker {
  return (fields, former) => {
    const head = readHead(fields, defaultTeam)
    if ('problems' in head) return head
    const { apiVersion } = fields
    const kindName = String(fields.kind)
    if (apiVersion === SECRET.apiVersion && kindName === SECRET.kind) return makeSecret(fields, head)
    if (isForeign(apiVersion)) return { made: null }
    const kind = kindOf(kindName)
    if (apiVersion !== API_VERSION || kind === undefined) {
      const given = `${kindName} of ${String(apiVersion)}`
      return { problems: [{ path: ['kind'], reason: `${given} is not supported; supported: ${SUPPORTED}.` }] }
    }
    const reader = readerOfCrd(kind.crd)
    const read = readResource(fields, head, reader, former.get(identityOf({ kind: kindName, ...head })))
    if ('problems' in read) return read
    const problems = kind.problemsOf?.(read.checked.spec) ?? []
    if (problems.length > 0) return { problems }
    const { checked } = read
    return { made: { resource: kind.make(head, checked.spec), checked, marks: marksOf(fields) } }
  }
}

/** Tells whether manifests of an API group are ignored, as far as they are no Secrets. */
export function isForeign(apiVersion: unknown): boolean {
  return String(apiVersion).split('/')[0] !== 'punctual.dev'
}

export function isSupported(apiVersion: unknown, kind: string): boolean {
  if (apiVersion === SECRET.apiVersion) return kind === SECRET.kind
  return apiVersion === API_VERSION && kindOf(kind) !== undefined
}

function kindOf(name: string): Kind | undefined {
  return Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
}

function readHead(
  fields: Fields,
  defaultTeam: string,
): Head | { readonly problems: readonly FieldProblem[] } {
  const problems: FieldProblem[] = []
  for (const field of ['apiVersion', 'kind'] as const) {
    if (typeof fields[field] !== 'string')
      problems.push({ path: [field], reason: `is required; supported: ${SUPPORTED}.` })
  }
  const metadata = typeof fields.metadata === 'object' && fields.metadata !== null ? fields.metadata : {}
  const { name, namespace } = metadata as Fields
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

function marksOf({ metadata }: Fields): ResourceMarks {
  const { labels, annotations } = metadata as Fields
  return { labels: textsOf(labels), annotations: textsOf(annotations) }
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return {}
  const texts = Object.entries(value).filter(([, text]) => typeof text === 'string')
  return Object.fromEntries(texts) as Record<string, string>
}

function makeSecret(fields: Fields, head: Head): Made {
  const { data, problems } = secretDataOf(fields)
  if (problems.length > 0) return { problems }
  const marks = marksOf(fields)
  return {
    made: {
      resource: {
        kind: 'Secret',
        ...head,
        data,
        type: typeof fields.type === 'string' ? fields.type : '',
        labels: marks.labels,
        annotations: marks.annotations,
      },
      checked: null,
      marks,
    },
  }
}

/** Ignores what only Kubernetes uses: status, and labels, uid and so on in metadata. */
function readResource(
  fields: Fields,
  { name }: Head,
  reader: ResourceReader,
  former: GivenResource | undefined,
): ReturnType<ResourceReader> {
  const unknown = Object.keys(fields).find((field) => !TOP_FIELDS.has(field))
  if (unknown !== undefined) {
    const reason = `is not a known field; known here: ${[...TOP_FIELDS].join(', ')}.`
    return { problems: [{ path: [unknown], reason }] }
  }
  if (fields.spec === undefined || fields.spec === null) {
    return { problems: [{ path: ['spec'], reason: 'is required.' }] }
  }
  return reader({ metadata: { name }, spec: fields.spec }, former)
}
