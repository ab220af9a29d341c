import { HOSTS_PER_SECRET_MAX } from '../limits.ts'
import { commonHosts, hostProblem, mayGoTo } from './header-secret.ts'

/**
 * The annotation by which the owner of a Secret says to which hosts its values may be sent as headers. Otherwise whoever
 * may edit a resource that names it could have them sent to a host of their own, without the right to read the Secret.
 */
export const SECRET_HOSTS_ANNOTATION = 'punctual.dev/hosts'
/** The whole annotation: to any host. */
const ANY = '*'

/** Where values of a Secret may go; `any` = wherever a spec says. */
export type SecretHosts = readonly string[] | 'any'

type Annotations = Readonly<Record<string, string>>

/** Reads the annotation; null = the Secret has none. A problem is the rest of a sentence about the annotation. */
export function secretHostsOf(annotations: Annotations): SecretHosts | { readonly problem: string } | null {
  const text = annotations[SECRET_HOSTS_ANNOTATION]?.trim()
  if (text === undefined) return null
  if (text === ANY) return 'any'
  const hosts = text.split(',').map((entry) => entry.trim())
  if (hosts.length > HOSTS_PER_SECRET_MAX) {
    return { problem: `has ${hosts.length} entries; at most ${HOSTS_PER_SECRET_MAX} are allowed.` }
  }
  for (const host of hosts) {
    const problem = hostProblem(host)
    if (problem !== null) return { problem: `has an entry ${JSON.stringify(host)}, which ${problem}` }
  }
  return [...new Set(hosts)]
}

/** The command by which its owner lets values of a Secret go to hosts. @param hosts not empty, of the form of the annotation */
export function annotateCommand(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  hosts: readonly string[],
): string {
  return `kubectl annotate secret ${name} --namespace ${namespace} --overwrite '${SECRET_HOSTS_ANNOTATION}=${hosts.join(',')}'`
}

/** Entry of a list of hosts that is the origin of a URL, and nothing else. */
export function hostEntryOf(url: URL): string {
  const port = url.port === '' ? (url.protocol === 'https:' ? '' : ':80') : `:${url.port}`
  return `${url.hostname.replace(/\.$/, '')}${port}`
}

/**
 * The hosts that a spec and its Secret have in common.
 * @property problem which entries of the spec the Secret does not have at all; null = each has something in common
 */
export function withinSecretHosts(
  wanted: readonly string[],
  allowed: SecretHosts,
  secret: string,
): { readonly hosts: readonly string[]; readonly problem: string | null } {
  if (allowed === 'any') return { hosts: wanted, problem: null }
  const without = wanted.filter((entry) => commonHosts([entry], allowed).length === 0)
  const problem =
    without.length === 0
      ? null
      : `Secret ${secret} may not go to ${without.join(', ')}: its annotation ${SECRET_HOSTS_ANNOTATION} says ${allowed.join(',')}.`
  return { hosts: commonHosts(wanted, allowed), problem }
}

/** Whether a value may go to an origin that it went to before. */
export function mayGoToOrigin(allowed: SecretHosts, origin: string): boolean {
  const url = URL.parse(origin)
  return allowed === 'any' || (url !== null && mayGoTo(allowed, url))
}

/** Why a value of a Secret may not go to a URL, as a sentence; null = it may. */
export function otherHostProblem(allowed: SecretHosts, url: URL, secret: string): string | null {
  if (allowed === 'any' || mayGoTo(allowed, url)) return null
  return `Secret ${secret} may not go to ${hostEntryOf(url)}: its annotation ${SECRET_HOSTS_ANNOTATION} says ${allowed.join(',')}.`
}
