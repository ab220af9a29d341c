import type { ApiToken } from '../domain/access/api-token.ts'
import { signingSecretId } from '../domain/access/signing-secret.ts'
import { impossibleAssertions } from '../domain/jobs/assertion.ts'
import { withinSecretHosts } from '../domain/secrets/secret-hosts.ts'
import { WINDOWS_PER_TEAM_MAX } from '../domain/limits.ts'
import { blockedUrlOf } from '../resources/cron-spec.ts'
import { ownerOf } from '../resources/queue-owner.ts'
import { identityOf } from '../resources/resource.ts'
import type { FieldProblem } from '../resources/schema/field-path.ts'
import type {
  ApiTokenResource,
  HttpCronResource,
  HttpQueueResource,
  MaintenanceWindowResource,
  Resource,
  SecretResource,
  TeamSettingsResource,
} from '../resources/resource.ts'
import { headerSecretFieldOf } from '../resources/secret-refs.ts'
import { channelOf, secretFieldOf } from '../resources/team-channels.ts'
import { type FolderProblem, orSetAside, type Placed, placeOf } from './folder-problem.ts'
import { cronKey, queueKey, secretsKey, tokenKey, windowKey } from './folder-snapshot.ts'
import type { FolderCron, FolderSnapshot, FolderTeam, TeamPolicy } from './folder-snapshot.ts'
import { headerValueOf, ownSecretsOf, secretTextOf, valueOf } from './folder-secrets.ts'
import { objectOf } from './folder-object.ts'
import type { ManifestFile } from './files/manifest-file.ts'

/** The resources of the good versions of all files, conflicts resolved. */
export interface AppliedResources {
  readonly snapshot: FolderSnapshot
  /** By queue key: the manifest that is applied, then younger ones with the same name. */
  readonly queues: ReadonlyMap<string, ReadonlyArray<Placed<HttpQueueResource>>>
  /** Crons by cron key. */
  readonly crons: ReadonlyMap<string, Placed<HttpCronResource>>
  /** Windows by window key. */
  readonly windows: ReadonlyMap<string, Placed<MaintenanceWindowResource>>
  /** By the key of a change (see `keysOf`), the manifest that describes what it names. */
  readonly places: ReadonlyMap<string, Placed>
  readonly problems: readonly FolderProblem[]
}

/** Tells whether the egress policy refuses a URL of a team that allows this. */
export type IsTargetBlocked = (url: URL, egressAllow: readonly string[]) => boolean

/** @param before from here a team with an unusable secret keeps its settings, so that its calls stay signed */
export function resolveResources(
  files: readonly ManifestFile[],
  before: FolderSnapshot,
  isTargetBlocked: IsTargetBlocked,
): AppliedResources {
  const problems: FolderProblem[] = []
  const unique = firstOfEach(oldestFirst(files), problems)
  const queues = queuesOf(unique.filter(isQueue), problems)
  const secrets = new Map(
    unique.filter(isSecret).map((placed) => [identityOf(placed.resource), placed.resource]),
  )
  const teams = unique.filter(isTeamSettings).flatMap((placed) => {
    const otherwise = before.teams.filter((one) => one.team === placed.resource.team)
    return orSetAside(placed, { problems, otherwise }, () =>
      teamOf(placed, secrets, { before, isTargetBlocked, problems }),
    )
  })
  const tokens = tokensOf(unique.filter(isToken), problems)
  const windows = windowsOf(unique.filter(isWindow), problems)
  const crons = new Map(unique.filter(isCron).map((placed) => [cronKey(placed.resource), placed]))
  const winners = [...queues.values()].flatMap(([winner]) => winner ?? [])
  for (const placed of [...winners, ...crons.values()]) {
    problems.push(...orSetAside(placed, { problems, otherwise: [] }, () => impossibleIn(placed)))
  }
  const blocked = blockedCrons(crons, { teams, isTargetBlocked, problems })
  const kept = before.crons.filter((cron) => blocked.has(cronKey(cron)))
  const open = new Map([...crons].filter(([key]) => !blocked.has(key)))
  const own = ownSecretsOf([...winners, ...open.values()], secrets, { before, problems })
  // A cron that stays as it was keeps its secrets too: those of its manifest are for another URL.
  const keptSecrets = (before.secrets ?? []).filter(
    ({ owner }) => owner.kind === 'cron' && blocked.has(cronKey(owner)),
  )
  const snapshot = snapshotOf(
    { queues, crons: [...settingsOf(open), ...kept], windows },
    { teams, tokens, secrets: [...own, ...keptSecrets] },
  )
  return { snapshot, queues, crons, windows, places: placesOf(unique), problems }
}

/** Lists the queues of each name, the owner first as in a cluster: the oldest that no push made, else the oldest. */
function queuesOf(
  placed: ReadonlyArray<Placed<HttpQueueResource>>,
  problems: FolderProblem[],
): AppliedResources['queues'] {
  const nameOf = ({ resource: { team, queueName: name } }: Placed<HttpQueueResource>) =>
    queueKey({ team, name })
  return new Map(
    [...Map.groupBy(placed, nameOf)].map(([key, sameName]) => {
      const owner = sameName.length === 1 ? undefined : ownerOf(sameName.map(objectOf))
      const winner = sameName.find(({ resource }) => resource.name === owner?.metadata.name) ?? sameName[0]
      const others = sameName.filter((one) => one !== winner)
      for (const one of others) {
        const what = `The queue name ${JSON.stringify(one.resource.queueName)}`
        if (winner !== undefined) problems.push(takenProblem(one, what, winner))
      }
      return [key, winner === undefined ? others : [winner, ...others]]
    }),
  )
}

function placesOf(placed: readonly Placed[]): ReadonlyMap<string, Placed> {
  return new Map(
    placed
      .flatMap((one) => keysOfResource(one.resource).map((key): [string, Placed] => [key, one]))
      .toReversed(),
  )
}

/** Makes the same keys as `keysOf`. */
export function keysOfResource(resource: Resource): readonly string[] {
  const { team, name } = resource
  switch (resource.kind) {
    case 'HttpQueue': {
      const queue = { team, name: resource.queueName }
      return [queueKey(queue), secretsKey({ owner: { ...queue, kind: 'queue' } })]
    }
    case 'HttpCron':
      return [cronKey(resource), secretsKey({ owner: { team, name, kind: 'cron' } })]
    case 'MaintenanceWindow':
      return [windowKey(resource)]
    case 'ApiToken':
      return [tokenKey(resource)]
    case 'TeamSettings':
      return [team]
    case 'Secret':
      return []
  }
}

function snapshotOf(
  {
    queues,
    crons,
    windows,
  }: Pick<AppliedResources, 'queues' | 'windows'> & { readonly crons: readonly FolderCron[] },
  { teams, tokens, secrets }: Pick<FolderSnapshot, 'teams' | 'tokens' | 'secrets'>,
): FolderSnapshot {
  const entries = [...queues.values()].flatMap(([winner]) => {
    if (winner === undefined) return []
    const { team, queueName, settings } = winner.resource
    return [{ team, name: queueName, settings }]
  })
  return Object.freeze({
    queues: entries.sort(byTeamAndName),
    crons: crons.toSorted(byTeamAndName),
    windows: settingsOf(windows),
    teams: [...teams].sort((left, right) => compare(left.team, right.team)),
    tokens: [...tokens].sort(byTeamAndName),
    secrets,
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
    .flatMap(({ file, madeAtMs, good }) => (good?.resources ?? []).map((one) => ({ ...one, file, madeAtMs })))
}

/** Finds the crons that call what their team may not, and reports each as a problem. */
function blockedCrons(
  crons: AppliedResources['crons'],
  {
    teams,
    isTargetBlocked,
    problems,
  }: {
    readonly teams: readonly FolderTeam[]
    readonly isTargetBlocked: IsTargetBlocked
    readonly problems: FolderProblem[]
  },
): ReadonlySet<string> {
  const allowed = new Map(teams.map(({ team, policy }) => [team, policy.egressAllow]))
  const blocked = new Set<string>()
  for (const [key, placed] of crons) {
    const { resource } = placed
    const egressAllow = allowed.get(resource.team) ?? []
    const otherwise = 'set aside'
    const problem = orSetAside<FieldProblem | typeof otherwise | null>(placed, { problems, otherwise }, () =>
      blockedUrlOf(resource.settings, (url) => isTargetBlocked(url, egressAllow)),
    )
    if (problem === null) continue
    blocked.add(key)
    if (problem === otherwise) continue
    const reason = `${problem.reason} The cron is not applied; settings applied earlier stay.`
    problems.push({
      code: 'TargetBlocked',
      ...placeOf(placed),
      line: null,
      field: problem.path.join('.'),
      reason,
    })
  }
  return blocked
}

/** Answers the warning that the API would give. The resource is applied all the same. */
function impossibleIn(
  placed: Placed<HttpQueueResource> | Placed<HttpCronResource>,
): readonly FolderProblem[] {
  return impossibleAssertions(placed.resource.settings.successAssertions).map(({ index, why }) => ({
    code: 'NeverSucceeds',
    ...placeOf(placed),
    line: null,
    field: `spec.successAssertions[${index}]`,
    reason: why,
  }))
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
  const item = winner.item === null ? '' : `item ${winner.item} of `
  const location = `${item}document ${winner.document} of ${winner.file}`
  const why = winner.madeAtMs <= placed.madeAtMs ? 'which is older' : 'which no push has made'
  const reason = `${what} is taken by ${location}, ${why}: this one is not applied.`
  return { code, ...placeOf(placed), line: null, field: null, reason }
}

function teamOf(
  placed: Placed<TeamSettingsResource>,
  secrets: ReadonlyMap<string, SecretResource>,
  context: {
    readonly before: FolderSnapshot
    readonly isTargetBlocked: IsTargetBlocked
    readonly problems: FolderProblem[]
  },
): readonly FolderTeam[] {
  const { before, isTargetBlocked, problems } = context
  const { resource } = placed
  const { team, egressAllow, quotas, members, appliedResources, maskedHeaders } = resource
  const report = (code: FolderProblem['code'], field: string, reason: string): null => {
    problems.push({ code, ...placeOf(placed), line: null, field, reason })
    return null
  }
  const found = resource.signingSecretRefs.map((ref, index) => {
    const field = `spec.signing.secretRefs[${index}]`
    const read = secretTextOf(secrets, { team, use: 'signing' }, ref)
    return 'text' in read ? read.text : report('SecretNotUsable', field, read.problem)
  })
  const channels = resource.channels.map((plan, index) => {
    const bytes = plan.secretRef === null ? null : valueOf(secrets, { team, use: null }, plan.secretRef)
    if (bytes !== null && 'missing' in bytes) {
      return report('ChannelNotUsable', secretFieldOf(index), bytes.missing)
    }
    const check = channelOf(plan, bytes, {
      egressAllow,
      isBlocked: (url) => isTargetBlocked(url, egressAllow),
    })
    return 'channel' in check
      ? check.channel
      : report('ChannelNotUsable', secretFieldOf(index), check.message)
  })
  const signingSecrets = found.filter((text) => text !== null)
  if (signingSecrets.length < found.length) return before.teams.filter((one) => one.team === team)
  const headerSecrets = resource.headerSecrets.map(({ name, hosts: wanted, secretKeyRef }, index) => {
    const reported = (problem: string) => report('SecretNotUsable', headerSecretFieldOf(index), problem)
    const read = headerValueOf(secrets, team, secretKeyRef)
    if ('problem' in read) return { name, hosts: wanted, value: reported(read.problem) }
    const { hosts, problem } = withinSecretHosts(wanted, read.hosts, secretKeyRef.name)
    if (problem !== null) reported(problem)
    return { name, hosts, value: hosts.length === 0 ? null : read.text }
  })
  const usable = channels.filter((channel) => channel !== null)
  const policy: TeamPolicy = Object.freeze({
    egressAllow,
    signingSecrets,
    signingSecretIds: resource.signingSecretRefs.map(signingSecretId),
    headerSecrets,
    quotas,
    members,
    channels: usable,
    appliedResources,
    maskedHeaders,
  })
  return [{ team, policy }]
}

/** A token belongs to one team, that of the older resource. */
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

/** Takes the oldest windows of a team, as many as it may have. */
function windowsOf(
  placed: ReadonlyArray<Placed<MaintenanceWindowResource>>,
  problems: FolderProblem[],
): Map<string, Placed<MaintenanceWindowResource>> {
  const counts = new Map<string, number>()
  const windows = new Map<string, Placed<MaintenanceWindowResource>>()
  for (const one of placed) {
    const { resource } = one
    const count = counts.get(resource.team) ?? 0
    if (count < WINDOWS_PER_TEAM_MAX) {
      counts.set(resource.team, count + 1)
      windows.set(windowKey(resource), one)
      continue
    }
    const reason = `${resource.team} has ${WINDOWS_PER_TEAM_MAX} older maintenance windows, the most allowed: this one is not applied.`
    problems.push({ code: 'TooManyWindows', ...placeOf(one), line: null, field: null, reason })
  }
  return windows
}

const isQueue = (placed: Placed): placed is Placed<HttpQueueResource> => placed.resource.kind === 'HttpQueue'
const isCron = (placed: Placed): placed is Placed<HttpCronResource> => placed.resource.kind === 'HttpCron'
const isWindow = (placed: Placed): placed is Placed<MaintenanceWindowResource> =>
  placed.resource.kind === 'MaintenanceWindow'
const isSecret = (placed: Placed): placed is Placed<SecretResource> => placed.resource.kind === 'Secret'
const isToken = (placed: Placed): placed is Placed<ApiTokenResource> => placed.resource.kind === 'ApiToken'
const isTeamSettings = (placed: Placed): placed is Placed<TeamSettingsResource> =>
  placed.resource.kind === 'TeamSettings'

interface Named {
  readonly team: string
  readonly name: string
}

function byTeamAndName(left: Named, right: Named): number {
  return compare(left.team, right.team) || compare(left.name, right.name)
}

/** Compares by code units, so that every machine sorts alike. */
function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
