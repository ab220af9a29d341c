/** A value that pushed jobs name for a header: it lies in a Secret, which only executors open, and goes to these hosts alone. */
export interface HeaderSecret {
  /** Unique in the team. */
  readonly name: string
  /** `api.example.com`, `*.example.com`, `10.1.2.3:8080`; see `mayGoTo`. Those that its spec and its Secret have in common; none = nowhere. */
  readonly hosts: readonly string[]
  /** null while its Secret cannot be used, and in a process that opens no secrets. */
  readonly value: string | null
}

const ENTRY = /^(\*\.)?(.*?)(?::([0-9]+))?$/
const PORT = String.raw`(?::(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5]))?`
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const NAME_ENTRY = new RegExp(String.raw`^(?:\*\.)?${LABEL}(?:\.${LABEL})*${PORT}$`)
const ENDS_WITH_NUMBER = /(?:^|\.)\d+(?::\d+)?$/
const BYTE = String.raw`(?:25[0-5]|2[0-4]\d|1\d{2}|[1-9]?\d)`
const ADDRESS_ENTRY = new RegExp(String.raw`^(?:(?:${BYTE}\.){3}${BYTE}|\[[0-9a-f:.]+\])${PORT}$`)
const HOST_CHARACTERS_MAX = 261

/** Why a text is no entry of hosts, as the rest of a sentence; null = it is one. The definition of TeamSettings says the same. */
export function hostProblem(entry: string): string | null {
  const isEntry =
    entry.length <= HOST_CHARACTERS_MAX &&
    ((NAME_ENTRY.test(entry) && !ENDS_WITH_NUMBER.test(entry)) || ADDRESS_ENTRY.test(entry))
  return isEntry
    ? null
    : 'must be a host in lower case such as api.example.com, *.example.com for those below it, or an address, with a port such as :8443 if need be.'
}

/** The hosts that are in both lists, by entries that may be narrower than those of either. */
export function commonHosts(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set(one.flatMap((entry) => other.flatMap((second) => commonEntry(entry, second) ?? [])))]
}

/** null = nothing is in both. */
function commonEntry(one: string, other: string): string | null {
  const [first, second] = [partsOf(one), partsOf(other)]
  const host = isWithin(first, second) ? first : isWithin(second, first) ? second : null
  if (host === null) return null
  const { isBelow, name } = host
  const [port, otherPort] = [first.port, second.port]
  const text = `${isBelow ? '*.' : ''}${name}`
  if (port === otherPort) return port === undefined ? text : `${text}:${port}`
  // Without a port it is 443 too, by HTTPS alone.
  return (port ?? '443') === (otherPort ?? '443') ? text : null
}

interface EntryParts {
  readonly isBelow: boolean
  readonly name: string
  readonly port: string | undefined
}

function partsOf(entry: string): EntryParts {
  const [, below, host = '', port] = ENTRY.exec(entry) ?? []
  return { isBelow: below !== undefined, name: nameOf(host), port }
}

function isWithin(inner: EntryParts, outer: EntryParts): boolean {
  if (inner.name === outer.name) return inner.isBelow === outer.isBelow
  return outer.isBelow && inner.name.endsWith(`.${outer.name}`)
}

/**
 * Whether a header secret may be sent to a URL: otherwise whoever may push could send it to a host of their own. An entry
 * is one host, or after `*.` those below it. Without a port it is HTTPS at port 443 alone; with one, that port, also
 * without TLS.
 */
export function mayGoTo(hosts: readonly string[], url: URL): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  const name = url.hostname.replace(/\.$/, '')
  return hosts.some((entry) => {
    const [, below, host = '', given] = ENTRY.exec(entry) ?? []
    const isPort = given === undefined ? url.protocol === 'https:' && port === '443' : given === port
    return isPort && (below === undefined ? name === nameOf(host) : name.endsWith(`.${nameOf(host)}`))
  })
}

/** The host as `URL` writes it, so that `[FD00::0:7]` is the same address as `[fd00::7]`. */
function nameOf(host: string): string {
  return URL.parse(`https://${host}`)?.hostname ?? host
}

/**
 * Why a job may not take a header from the header secret of this name; null = it may.
 * @param target null = it is not known yet
 */
export function headerSecretRefusal(
  secrets: readonly HeaderSecret[],
  name: string,
  target: string | null,
): 'unknown' | 'other_host' | null {
  const secret = secrets.find((one) => one.name === name)
  if (secret === undefined) return 'unknown'
  const url = target === null ? null : URL.parse(target)
  return url === null || mayGoTo(secret.hosts, url) ? null : 'other_host'
}
