/** A value that pushed jobs name for a header: it lies in a Secret, which only executors open, and goes to these hosts alone. */
export interface HeaderSecret {
  /** Unique in the team. */
  readonly name: string
  /** `api.example.com`, `*.example.com`, `10.1.2.3:8080`; see `mayGoTo`. */
  readonly hosts: readonly string[]
  /** null while its Secret cannot be used, and in a process that opens no secrets. */
  readonly value: string | null
}

const ENTRY = /^(\*\.)?(.*?)(?::([0-9]+))?$/

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
