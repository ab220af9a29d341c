import type { ApiToken } from '../domain/access/api-token.ts'
import { WINDOWS_PER_TEAM_MAX } from '../domain/limits.ts'
import { identityOf } from '../resources/resource.ts'
import type {
  ApiTokenResource,
  HttpCronResource,
  HttpQueueResource,
  MaintenanceWindowResource,
  Resource,
  SecretResource,
  TeamSettingsResource,
} from '../resources/resource.ts'
import { signingSecretOf } from '../resources/secret-data.ts'
import type { SecretRef } from '../resources/generated/kinds.ts'
import { channelOf, secretFieldOf } from '../resources/team-channels.ts'
import type { FolderProblem } from './folder-problem.ts'
import { cronKey, queueKey, windowKey } from './folder-snapshot.ts'
import type { FolderSnapshot, FolderTeam, TeamPolicy } from './folder-snapshot.ts'
import type { ManifestFile } from './files/manifest-file.ts'

/** A resource and where it is written. */
export interface Placed<T extends Resource = Resource> {
  readonly file: string
  readonly document: number
  readonly resource: T
}

/** The resources of the good versions of all files, conflicts resolved. */
export interface AppliedResources {
  readonly snapshot: FolderSnapshot
  /** By queue key: the manifest that is applied, then younger ones with the same name. */
  readonly queues: ReadonlyMap<string, ReadonlyArray<Placed<HttpQueueResource>>>
  /** By cron key. */
  readonly crons: ReadonlyMap<string, Placed<HttpCronResource>>
  /** By window key. */
  readonly windows: ReadonlyMap<string, Placed<MaintenanceWindowResource>>
  readonly problems: readonly FolderProblem[]
}

/** Whether the egress policy refuses a URL of a team that allows this. */
export type IsChannelBlocked = (url: URL, egressAllow: readonly string[]) => boolean

/** @param before a team with an unusable secret keeps its settings from here, so that its calls stay signed */
export function resolveResources(
  files: readonly ManifestFile[],
  before: FolderSnapshot,
  isChannelBlocked: IsChannelBlocked,
): AppliedResources {
  const problems: FolderProblem[] = []
  const unique = firstOfEach(oldestFirst(files), problems)
  const queues = new Map<string, Array<Placed<HttpQueueResource>>>()
  for (const placed of unique.filter(isQueue)) {
    const { team, queueName } = placed.resource
    const key = queueKey({ team, name: queueName })
    const sameName = queues.get(key) ?? []
    const [winner] = sameName
    if (winner !== undefined) {
      problems.push(takenProblem(placed, `The queue name ${JSON.stringify(queueName)}`, winner))
    }
    queues.set(key, [...sameName, placed])
  }
  const secrets = new Map(
    unique.filter(isSecret).map((placed) => [identityOf(placed.resource), placed.resource]),
  )
  const teams = unique
    .filter(isTeamSettings)
    .flatMap((placed) => teamOf(placed, secrets, { before, isChannelBlocked, problems }))
  const tokens = tokensOf(unique.filter(isToken), problems)
  const windows = windowsOf(unique.filter(isWindow), problems)
  const crons = new Map(unique.filter(isCron).map((placed) => [cronKey(placed.resource), placed]))
  const snapshot = snapshotOf({ queues, crons, windows }, teams, tokens)
  return { snapshot, queues, crons, windows, problems }
}

function snapshotOf(
  { queues, crons, windows }: Pick<AppliedResources, 'queues' | 'crons' | 'windows'>,
  teams: readonly FolderTeam[],
  tokens: readonly ApiToken[],
): FolderSnapshot {
  const entries = [...queues.values()].flatMap(([winner]) => {
    if (winner === undefined) return []
    const { team, queueName, settings } = winner.resource
    return [{ team, name: queueName, settings }]
  })
  return Object.freeze({
    queues: entries.sort(byTeamAndName),
    crons: settingsOf(crons),
    windows: settingsOf(windows),
    teams: [...teams].sort((left, right) => compare(left.team, right.team)),
    tokens: [...tokens].sort(byTeamAndName),
  })
}

function settingsOf<Settings>(
  placed: ReadonlyMap<string, Placed<Resource & { readonly settings: Settings }>>,
): Array<{ readonly team: string; readonly name: string; readonly settings: Settings }> {
  return [...placed.values()]
    .map(({ resource: { team, name, settings } }) => ({ team, name, settings }))
    .sort(byTeamAndName)
}

export function oldestFirst(files: readonly ManifestFile[]): Placed[] {
  return [...files]
    .sort((left, right) => left.madeAtMs - right.madeAtMs || compare(left.file, right.file))
    .flatMap(({ file, good }) =>
      (good?.resources ?? []).map(({ resource, document }) => ({ file, document, resource })),
    )
}

/** Keeps one resource per kind, team and name, as a cluster does. */
function firstOfEach(placed: readonly Placed[], problems: FolderProblem[]): Placed[] {
  const first = new Map<string, Placed>()
  for (const one of placed) {
    const identity = identityOf(one.resource)
    const winner = first.get(identity)
    if (winner === undefined) first.set(identity, one)
    else problems.push(takenProblem(one, `The name of ${one.resource.kind} ${one.resource.name}`, winner))
  }
  return [...first.values()]
}

function takenProblem(
  placed: Placed,
  what: string,
  winner: Placed,
  code: FolderProblem['code'] = 'NameTaken',
): FolderProblem {
  const location = `document ${winner.document} of ${winner.file}`
  const reason = `${what} is taken by ${location}, which is older: this one is not applied.`
  return { code, file: placed.file, document: placed.document, line: null, field: null, reason }
}

function teamOf(
  { file, document, resource }: Placed<TeamSettingsResource>,
  secrets: ReadonlyMap<string, SecretResource>,
  context: {
    readonly before: FolderSnapshot
    readonly isChannelBlocked: IsChannelBlocked
    readonly problems: FolderProblem[]
  },
): readonly FolderTeam[] {
  const { before, isChannelBlocked, problems } = context
  const { team, egressAllow, quotas, members } = resource
  const report = (code: FolderProblem['code'], field: string, reason: string): null => {
    problems.push({ code, file, document, line: null, field, reason })
    return null
  }
  const found = resource.signingSecretRefs.map((ref, index) => {
    const field = `spec.signing.secretRefs[${index}]`
    const bytes = valueOf(secrets, team, ref)
    if ('missing' in bytes) return report('SecretNotUsable', field, bytes.missing)
    const read = signingSecretOf(bytes)
    if ('text' in read) return read.text
    return report('SecretNotUsable', field, `Key ${ref.key} of Secret ${ref.name} ${read.reason}`)
  })
  const channels = resource.channels.map((plan, index) => {
    const bytes = plan.secretRef === null ? null : valueOf(secrets, team, plan.secretRef)
    if (bytes !== null && 'missing' in bytes) {
      return report('ChannelNotUsable', secretFieldOf(index), bytes.missing)
    }
    const check = channelOf(plan, bytes, {
      egressAllow,
      isBlocked: (url) => isChannelBlocked(url, egressAllow),
    })
    return 'channel' in check
      ? check.channel
      : report('ChannelNotUsable', secretFieldOf(index), check.message)
  })
  const signingSecrets = found.filter((text) => text !== null)
  if (signingSecrets.length < found.length) return before.teams.filter((one) => one.team === team)
  const usable = channels.filter((channel) => channel !== null)
  const policy: TeamPolicy = Object.freeze({
    ...{ egressAllow, signingSecrets, quotas, members },
    channels: usable,
  })
  return [{ team, policy }]
}

function valueOf(
  secrets: ReadonlyMap<string, SecretResource>,
  team: string,
  { name, key }: SecretRef,
): Uint8Array | { readonly missing: string } {
  const secret = secrets.get(identityOf({ kind: 'Secret', team, name }))
  if (secret === undefined) return { missing: `There is no Secret ${name} in ${team}.` }
  return secret.data[key] ?? { missing: `Secret ${name} has no key ${key}.` }
}

/** A token belongs to one team: that of the older resource. */
function tokensOf(
  placed: ReadonlyArray<Placed<ApiTokenResource>>,
  problems: FolderProblem[],
): readonly ApiToken[] {
  const byHash = new Map<string, Placed<ApiTokenResource>>()
  for (const one of placed) {
    const winner = byHash.get(one.resource.sha256Hex)
    if (winner === undefined) byHash.set(one.resource.sha256Hex, one)
    else problems.push(takenProblem(one, 'This token', winner, 'TokenTaken'))
  }
  return [...byHash.values()].map(({ resource }) => {
    const { team, name, sha256Hex, prefix, description, terms } = resource
    return { team, name, sha256Hex, prefix, description, terms }
  })
}

/** The oldest windows of a team, as many as a team may have. */
function windowsOf(
  placed: ReadonlyArray<Placed<MaintenanceWindowResource>>,
  problems: FolderProblem[],
): Map<string, Placed<MaintenanceWindowResource>> {
  const counts = new Map<string, number>()
  const windows = new Map<string, Placed<MaintenanceWindowResource>>()
  for (const one of placed) {
    const { file, document, resource } = one
    const count = counts.get(resource.team) ?? 0
    if (count < WINDOWS_PER_TEAM_MAX) {
      counts.set(resource.team, count + 1)
      windows.set(windowKey(resource), one)
      continue
    }
    const reason = `${resource.team} has ${WINDOWS_PER_TEAM_MAX} older maintenance windows, the most allowed: this one is not applied.`
    problems.push({ code: 'TooManyWindows', file, document, line: null, field: null, reason })
  }
  return windows
}

const isQueue = (placed: Placed): placed is Placed<HttpQueueResource> => placed.resource.kind === 'HttpQueue'
const isCron = (placed: Placed): placed is Placed<HttpCronResource> => placed.resource.kind === 'HttpCron'
const isWindow = (placed: Placed): placed is Placed<MaintenanceWindowResource> =>
  placed.resource.kind === 'MaintenanceWindow'
const isSecret = (placed: Placed): placed is Placed<SecretResource> => placed.resource.kind === 'Secret'
const isToken = (placed: Placed): placed is Placed<ApiTokenResource> => placed.resource.kind === 'ApiToken'
export const isTeamSettings = (placed: Placed): placed is Placed<TeamSettingsResource> =>
  placed.resource.kind === 'TeamSettings'

interface Named {
  readonly team: string
  readonly name: string
}

function byTeamAndName(left: Named, right: Named): number {
  return compare(left.team, right.team) || compare(left.name, right.name)
}

/** By code units, so that every machine sorts alike. */
function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
