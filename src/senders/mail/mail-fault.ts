import { excerpt } from '../../domain/excerpt.ts'
import { printable } from '../messages/printable.ts'

/** Why a mail was not accepted. `said` is for people, without address, user and password of the mail server. */
export interface MailFault {
  readonly said: string
  /** The server refuses this mail to this recipient for good. */
  readonly isFinal: boolean
  /** The server itself is the problem: no other mail would fare better now. */
  readonly isOfServer: boolean
}

const SAID_CHARACTERS_MAX = 160

const SERVER_FAULTS: Readonly<Record<string, string>> = {
  EAUTH: 'The mail server refused the login',
  ENOAUTH: 'The mail server wants a login',
  ETLS: 'The mail server offers no TLS that can be used',
  EREQUIRETLS: 'The mail server offers no TLS that can be used',
  EDNS: 'The host name of the mail server could not be resolved',
  ESOCKET: 'The mail server could not be reached',
  ECONNECTION: 'The mail server closed the connection',
  ETIMEDOUT: 'The mail server did not answer in time',
  EPROTOCOL: 'The mail server does not speak SMTP on this port',
}

/** Codes of OpenSSL and Node about a certificate; nodemailer reports them as a fault of the socket. */
const OF_CERTIFICATE = /CERT|ISSUER|LEAF_SIGNATURE/

/**
 * Reads an error of nodemailer, whose messages contain addresses and may contain what was sent.
 * @param password that an answer must not repeat
 */
export function mailFaultOf(error: unknown, password: string | null): MailFault {
  const { code = '', responseCode, response, originalCode } = fieldsOf(error)
  const known = OF_CERTIFICATE.test(originalCode ?? '')
    ? 'The certificate of the mail server is not trusted'
    : SERVER_FAULTS[code]
  if (known !== undefined) {
    const detail = responseCode ?? originalCode
    return {
      said: detail === undefined ? `${known}.` : `${known} (${detail}).`,
      isFinal: false,
      isOfServer: true,
    }
  }
  const isRefusal = responseCode !== undefined && responseCode >= 500 && responseCode !== 503
  // Judged whole: once cut, it may hold the beginning of the password.
  const text = printable(response ?? '', Infinity)
  const isShown = text !== '' && (password === null || !text.includes(password))
  return {
    said: isShown
      ? excerpt(text, SAID_CHARACTERS_MAX)
      : `The mail could not be sent (${responseCode ?? (code || 'unknown error')}).`,
    isFinal: isRefusal,
    isOfServer: responseCode === 421,
  }
}

interface ErrorFields {
  readonly code?: string | undefined
  readonly responseCode?: number | undefined
  readonly response?: string | undefined
  readonly originalCode?: string | undefined
}

function fieldsOf(error: unknown): ErrorFields {
  return error instanceof Error ? (error as ErrorFields) : {}
}
