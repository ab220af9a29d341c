import { isIP } from 'node:net'
import { isCallableHost } from '../net/host-name.ts'

/** The mail server of the installation. */
export interface MailServer {
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
  /** TLS from the first byte; else STARTTLS, which a login needs unless the server is on this machine. */
  readonly isTlsFromStart: boolean
  readonly login: { readonly user: string; readonly password: string } | null
}

export interface MailAddress {
  readonly name: string | null
  readonly address: string
}

/** Describes the forms that `parseMailServer` takes, for messages. */
export const MAIL_SERVER_FORMS =
  'smtp://host:port or smtps://host:port, with user:password@ before the host if the server wants a login (special characters percent-encoded)'

const SUBMISSION_PORT = 587
const TLS_PORT = 465
const ADDRESS_CHARACTERS_MAX = 254
const LOCAL_PART_CHARACTERS_MAX = 64
const NAME_CHARACTERS_MAX = 128
/** RFC 5322 without quoted strings and comments, which only serve to confuse readers of headers. */
const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const DOMAIN_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

/** Reads `smtp://` and `smtps://`. null for anything else; a message must not show the text, which has the password. */
export function parseMailServer(text: string): MailServer | null {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text)
  const isTlsFromStart = url?.protocol === 'smtps:'
  if (url === null || (url.protocol !== 'smtp:' && !isTlsFromStart)) return null
  if ((url.pathname !== '' && url.pathname !== '/') || url.search !== '' || url.hash !== '') return null
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) === 0 && !(isCallableHost(host) && /^[a-z0-9._-]+$/i.test(host))) return null
  const port = url.port === '' ? (isTlsFromStart ? TLS_PORT : SUBMISSION_PORT) : Number(url.port)
  const login = loginOf(url)
  return login === 'bad' || port === 0 ? null : { host, port, isTlsFromStart, login }
}

/** Reads `alerts@example.com` and `Punctual <alerts@example.com>`; null for anything else. */
export function parseMailAddress(text: string): MailAddress | null {
  if (isMailAddress(text)) return { name: null, address: text }
  const match = /^\s*("?)([^"<>\p{Cc}]*?)\1\s*<([^<>]+)>\s*$/u.exec(text)
  const [, , name = '', address = ''] = match ?? []
  if (!isMailAddress(address) || name.length > NAME_CHARACTERS_MAX) return null
  return { name: name === '' ? null : name, address }
}

/** An address of ASCII characters that needs no quotes and can break no header. */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  const labels = text.slice(at + 1).split('.')
  return (
    text.length <= ADDRESS_CHARACTERS_MAX &&
    local.length <= LOCAL_PART_CHARACTERS_MAX &&
    LOCAL_PART.test(local) &&
    labels.every((label) => DOMAIN_LABEL.test(label))
  )
}

function loginOf(url: URL): MailServer['login'] | 'bad' {
  if (url.username === '' && url.password === '') return null
  if (url.username === '' || url.password === '') return 'bad'
  try {
    const user = decodeURIComponent(url.username)
    const password = decodeURIComponent(url.password)
    // A line break would end the command of the login.
    return /\p{Cc}/u.test(user + password) ? 'bad' : { user, password }
  } catch {
    return 'bad'
  }
}
