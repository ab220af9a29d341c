import type { SecretKeyRef } from '../../domain/access/signing-secret.ts'
import {
  hostEntryOf,
  mayGoToOrigin,
  otherHostProblem,
  type SecretHosts,
} from '../../domain/secrets/secret-hosts.ts'
import { tooManyBytesText } from '../../domain/secrets/secret-bytes.ts'
import type { SecretReader } from '../../ports/kubernetes.ts'
import { OWN_SECRETS_READ_MS, type OwnSecrets, type SecretOwner } from '../../ports/access/own-secrets.ts'
import type { Clock } from '../../ports/runtime.ts'
import { pause } from '../../domain/pause.ts'
import type { OwnSecretsReason } from '../../resources/conditions.ts'
import type { SecretRef } from '../../resources/generated/kinds.ts'
import type { HeaderRef } from '../../resources/secret-refs.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import { type SecretProblem, SecretValues } from './secret-values.ts'
import { readSigningSecrets } from './signing-secrets.ts'

/** The Secrets that a queue or cron names. */
export interface OwnSecretRefs {
  readonly signing: readonly SecretRef[]
  readonly headers: readonly HeaderRef[]
  /** The URL that the headers are sent to; null = there are no headers. */
  readonly url: string | null
}

type ReadOwnSecrets =
  | { readonly kind: 'found'; readonly secrets: OwnSecrets }
  | ({ readonly kind: 'problem'; readonly hosts: HostsByHeader } & SecretProblem)

/** Where the Secrets of headers let their values go, by the header's name in lower case; those alone that say it. */
type HostsByHeader = ReadonlyMap<string, SecretHosts>

/**
 * Applies the secrets of a queue or cron before its settings, and gives executors time to read those that its settings
 * may need, so that no call fails for want of them or is signed by others. When its first signing secrets cannot be
 * used, the mere fact that it is to have some is applied: a push may make the queue, and the team's secrets must not
 * sign its calls. Header values that were applied earlier stay then, unless their Secret says by now that they may not go
 * where they went.
 * @returns why they cannot be used; null = they are applied. Throws ResourceApiError, StoreUnavailableError and
 * StorageFullError.
 */
export async function applyOwnSecrets(
  parts: {
    readonly secrets: SecretReader
    readonly engine: Pick<LeaderSession, 'write'>
    readonly clock: Pick<Clock, 'after'>
  },
  owner: SecretOwner,
  refs: OwnSecretRefs,
): Promise<SecretProblem<OwnSecretsReason> | null> {
  const read = await readOwnSecrets(new SecretValues(parts.secrets, owner.team), refs)
  if (read.kind === 'problem') {
    const unread = { signingSecrets: [], signingSecretRefs: keyRefsOf(refs.signing), headerValues: {} }
    if (refs.signing.length > 0) await parts.engine.write((compiler) => compiler.putOwnSecrets(owner, unread))
    if (read.hosts.size > 0) {
      // A Secret that does not say where its values may go does not take them back either.
      const mayKeep = (header: string, origin: string) =>
        mayGoToOrigin(read.hosts.get(header) ?? 'any', origin)
      await parts.engine.write((compiler) => compiler.withdrawHeaderValues(owner, mayKeep))
    }
    return { reason: read.reason, message: read.message }
  }
  const end = await parts.engine.write((compiler) => compiler.putOwnSecrets(owner, read.secrets))
  if (end.status === 'too_large') return { reason: 'SecretsTooLarge', message: tooManyBytesText(end.of) }
  if (end.mustBeReadFirst === true) await pause(parts.clock, OWN_SECRETS_READ_MS)
  return null
}

/** Reads them in order and names the first that cannot be used. Throws ResourceApiError. */
async function readOwnSecrets(secrets: SecretValues, refs: OwnSecretRefs): Promise<ReadOwnSecrets> {
  const signing = await readSigningSecrets(secrets, refs.signing)
  const { values, hosts, problem } = await readHeaderValues(secrets, refs)
  if (signing.kind === 'problem') return { ...signing, hosts }
  if (problem !== null) return { kind: 'problem', ...problem, hosts }
  return {
    kind: 'found',
    secrets: {
      signingSecrets: signing.texts,
      signingSecretRefs: keyRefsOf(refs.signing),
      headerValues: Object.fromEntries(values),
      ...(values.length === 0 ? {} : originOf(refs.url)),
    },
  }
}

/** Reads all of them, as any may have been withdrawn. @returns problem of the first that cannot be used */
async function readHeaderValues(
  secrets: SecretValues,
  { headers, url: text }: OwnSecretRefs,
): Promise<{
  readonly values: ReadonlyArray<readonly [string, string]>
  readonly hosts: HostsByHeader
  readonly problem: SecretProblem | null
}> {
  const url = text === null ? null : URL.parse(text)
  const values: Array<readonly [string, string]> = []
  const hosts = new Map<string, SecretHosts>()
  let problem: SecretProblem | null = null
  for (const { header, ref } of url === null ? [] : headers) {
    const read = await secrets.header(ref, url === null ? [] : [hostEntryOf(url)])
    if (!('text' in read)) {
      problem ??= read
      continue
    }
    hosts.set(header, read.hosts)
    const message = url === null ? null : otherHostProblem(read.hosts, url, ref.name)
    if (message === null) values.push([header, read.text])
    else problem ??= { reason: 'SecretNotUsable', message }
  }
  return { values, hosts, problem }
}

function keyRefsOf(refs: readonly SecretRef[]): readonly SecretKeyRef[] {
  return refs.map(({ name, key }) => ({ name, key }))
}

function originOf(url: string | null): Pick<OwnSecrets, 'headerOrigin'> {
  const origin = url === null ? undefined : URL.parse(url)?.origin
  return origin === undefined ? {} : { headerOrigin: origin }
}
