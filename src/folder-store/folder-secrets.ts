import {
  mayGoToOrigin,
  otherHostProblem,
  SECRET_HOSTS_ANNOTATION,
  type SecretHosts,
  secretHostsOf,
} from '../domain/secrets/secret-hosts.ts'
import { isSecretFor, notForText, type SecretUse } from '../domain/secrets/secret-use.ts'
import {
  areUnread,
  type OwnSecrets,
  type SecretOwner,
  withKeptHeaderValues,
} from '../ports/access/own-secrets.ts'
import type { SecretRef } from '../resources/generated/kinds.ts'
import {
  identityOf,
  type HttpCronResource,
  type HttpQueueResource,
  type SecretResource,
} from '../resources/resource.ts'
import { headerTextOf, signingSecretOf } from '../resources/secret-data.ts'
import { headerRefsOf } from '../resources/secret-refs.ts'
import { type FolderSecrets, type FolderSnapshot, secretsKey } from './folder-snapshot.ts'
import { type FolderProblem, orSetAside, type Placed, placeOf } from './folder-problem.ts'

type PlacedOwner = Placed<HttpQueueResource | HttpCronResource>

/** Secrets by the identity of their resource. */
type SecretsByIdentity = ReadonlyMap<string, SecretResource>

type ReadText = { readonly text: string } | { readonly problem: string }

/** Reads a value of a Secret. @param use what the Secret must be for; null = anything */
export function valueOf(
  secrets: SecretsByIdentity,
  { team, use }: { readonly team: string; readonly use: SecretUse | null },
  { name, key }: SecretRef,
): Uint8Array | { readonly missing: string } {
  const secret = secrets.get(identityOf({ kind: 'Secret', team, name }))
  if (secret === undefined) return { missing: `There is no Secret ${name} in ${team}.` }
  if (use !== null && !isSecretFor(use, secret)) return { missing: `Secret ${name} ${notForText(use)}` }
  return secret.data[key] ?? { missing: `Secret ${name} has no key ${key}.` }
}

/** Reads the text of a signing secret or of a header's value. */
export function secretTextOf(
  secrets: SecretsByIdentity,
  { team, use }: { readonly team: string; readonly use: SecretUse },
  ref: SecretRef,
): ReadText {
  const bytes = valueOf(secrets, { team, use }, ref)
  if ('missing' in bytes) return { problem: bytes.missing }
  const read = use === 'signing' ? signingSecretOf(bytes) : headerTextOf(bytes)
  return 'text' in read ? read : { problem: `Key ${ref.key} of Secret ${ref.name} ${read.reason}` }
}

/**
 * Reads the value of a header, and where its Secret lets it go: anywhere if it does not say, because whoever may write a
 * manifest into the folder may read its Secrets as well.
 */
export function headerValueOf(
  secrets: SecretsByIdentity,
  team: string,
  ref: SecretRef,
): { readonly text: string; readonly hosts: SecretHosts } | { readonly problem: string } {
  const read = secretTextOf(secrets, { team, use: 'header' }, ref)
  if ('problem' in read) return read
  const secret = secrets.get(identityOf({ kind: 'Secret', team, name: ref.name }))
  const hosts = secretHostsOf(secret?.annotations ?? {}) ?? 'any'
  if (hosts === 'any' || !('problem' in hosts)) return { text: read.text, hosts }
  return { problem: `Annotation ${SECRET_HOSTS_ANNOTATION} of Secret ${ref.name} ${hosts.problem}` }
}

/**
 * Reads the secrets of queues and crons that name any. One with an unusable Secret keeps its former secrets, but header
 * values that by now may not go where they went; if it has none, its calls fail.
 */
export function ownSecretsOf(
  owners: readonly PlacedOwner[],
  secrets: SecretsByIdentity,
  context: { readonly before: FolderSnapshot; readonly problems: FolderProblem[] },
): readonly FolderSecrets[] {
  const earlier = new Map(context.before.secrets.map((one) => [secretsKey(one), one]))
  return owners.flatMap((placed): readonly FolderSecrets[] => {
    const { resource } = placed
    const signing = resource.signingSecretRefs
    const headers = resource.kind === 'HttpCron' ? headerRefsOf(resource.settings.headers) : []
    if (signing.length + headers.length === 0) return []
    const owner = ownerOf(resource)
    const own = orSetAside(placed, { problems: context.problems, otherwise: null }, () =>
      readOwn(placed, secrets, context.problems),
    )
    if (own !== null) return [{ owner, secrets: own }]
    const signingSecretRefs = signing.map(({ name, key }) => ({ name, key }))
    const unread = { signingSecrets: [], signingSecretRefs, headerValues: {} }
    const former = earlier.get(secretsKey({ owner }))
    if (former !== undefined) {
      const mayKeep = (header: string, origin: string) => {
        const ref = headers.find((one) => one.header === header)?.ref
        const read = ref === undefined ? null : headerValueOf(secrets, owner.team, ref)
        return read === null || 'problem' in read || mayGoToOrigin(read.hosts, origin)
      }
      return [{ owner, secrets: withKeptHeaderValues(former.secrets, mayKeep) }]
    }
    return areUnread(unread) ? [{ owner, secrets: unread }] : []
  })
}

/** null = one of them cannot be used, which is reported. */
function readOwn(
  placed: PlacedOwner,
  secrets: SecretsByIdentity,
  problems: FolderProblem[],
): OwnSecrets | null {
  const { resource } = placed
  const { team, signingSecretRefs: signing } = resource
  const headers = resource.kind === 'HttpCron' ? headerRefsOf(resource.settings.headers) : []
  const texts = signing.map((ref) => {
    const read = secretTextOf(secrets, { team, use: 'signing' }, ref)
    return textOrReport(placed, read, { field: 'spec.signing.secretRefs', problems })
  })
  const values = headers.map(({ ref }) => {
    const read = headerOfCron(headerValueOf(secrets, team, ref), ref, resource)
    return textOrReport(placed, read, { field: 'spec.headers', problems })
  })
  if ([...texts, ...values].includes(null)) return null
  const entries = headers.map(({ header }, at) => [header, values[at] ?? ''])
  return {
    signingSecrets: texts.flatMap((text) => text ?? []),
    signingSecretRefs: signing.map(({ name, key }) => ({ name, key })),
    headerValues: Object.fromEntries(entries),
    ...(resource.kind === 'HttpCron' && headers.length > 0
      ? { headerOrigin: new URL(resource.settings.url).origin }
      : {}),
  }
}

function headerOfCron(
  read: ReturnType<typeof headerValueOf>,
  { name }: SecretRef,
  resource: PlacedOwner['resource'],
): ReadText {
  const url = resource.kind === 'HttpCron' ? URL.parse(resource.settings.url) : null
  if ('problem' in read || url === null) return read
  const problem = otherHostProblem(read.hosts, url, name)
  return problem === null ? read : { problem }
}

function ownerOf(resource: PlacedOwner['resource']): SecretOwner {
  const { team } = resource
  return resource.kind === 'HttpCron'
    ? { team, kind: 'cron', name: resource.name }
    : { team, kind: 'queue', name: resource.queueName }
}

function textOrReport(
  placed: PlacedOwner,
  read: ReadText,
  { field, problems }: { readonly field: string; readonly problems: FolderProblem[] },
): string | null {
  if ('text' in read) return read.text
  problems.push({ code: 'SecretNotUsable', ...placeOf(placed), line: null, field, reason: read.problem })
  return null
}
