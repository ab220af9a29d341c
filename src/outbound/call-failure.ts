/** Maps errors of sockets, TLS and responses to a failure reason and a message for people. */
import type { FailureReason } from '../domain/jobs/job.ts'
import { BLOCKED_TARGET_MESSAGE } from './egress/egress-guard.ts'
import { NameResolutionError } from './dns/name-resolver.ts'
import { codeOf, isOutOfDescriptors } from './system-error.ts'

/** The stages of a call, in order. */
export type Stage = 'dns' | 'connect' | 'tls' | 'waiting' | 'reading'

export type CallFailure =
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly message: string }
  | { readonly kind: 'local_fault'; readonly message: string }

/** The connected address was not a checked one, or the egress policy refused the addresses. */
export class BlockedTargetError extends Error {
  constructor() {
    super(BLOCKED_TARGET_MESSAGE)
    this.name = 'BlockedTargetError'
  }
}

/** TCP and TLS together took longer than allowed, with time left in the call. */
export class ConnectDeadlineError extends Error {
  constructor(ms: number) {
    super(`No connection within ${ms / 1000} s.`)
    this.name = 'ConnectDeadlineError'
  }
}

/** A `connection_error` with this message: a response that the call cannot take, or no free port to call from. */
export class ConnectionFailedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConnectionFailedError'
  }
}

/** The fault of a response that has no status which could be read. */
export function invalidResponse(): ConnectionFailedError {
  return new ConnectionFailedError('The response is not valid HTTP/1.1.')
}

export function closedEarly(): ConnectionFailedError {
  return new ConnectionFailedError('The connection was closed before the response was complete.')
}

const SOCKET_MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset by the target.',
  EPIPE: 'The connection was closed by the target while the request was sent.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The network cannot be reached.',
  EADDRNOTAVAIL: 'This machine has no address from which the target can be reached.',
  EAFNOSUPPORT: 'The network cannot be reached.',
  ETIMEDOUT: 'The host did not respond in time.',
}

const NOT_TRUSTED =
  'The certificate is signed by an authority that is not trusted, or the target does not send its intermediate certificate.'
const TOO_OLD = 'The target offers no TLS newer than 1.1; calls need 1.2 or newer.'
const CERTIFICATE_WANTED = 'The target asks for a client certificate, which calls do not have.'
const HANDSHAKE_REFUSED =
  'The target refused the handshake: it may ask for a client certificate, or share no cipher with this program.'

const TLS_MESSAGES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate is signed by an authority that is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
  ERR_SSL_UNSUPPORTED_PROTOCOL: TOO_OLD,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: TOO_OLD,
  ERR_SSL_TLS_ALERT_PROTOCOL_VERSION: TOO_OLD,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: CERTIFICATE_WANTED,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: HANDSHAKE_REFUSED,
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': HANDSHAKE_REFUSED,
  ERR_SSL_WRONG_VERSION_NUMBER: 'The target does not speak TLS on this port.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'The target does not speak TLS on this port.',
}

const TLS_CODE = /^(?:ERR_SSL_|ERR_TLS_|CERT_|EPROTO$)/

/** Codes of this machine's own network stack: nothing has reached the target. */
const NO_WAY_OUT = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EHOSTUNREACH', 'ENETUNREACH'])

export const STAGE_DESCRIPTIONS: Readonly<Record<Stage, string>> = {
  dns: 'looking up the host name',
  connect: 'connecting',
  tls: 'in the TLS handshake',
  waiting: 'waiting for the response',
  reading: 'reading the response',
}

export function failed(reason: FailureReason, message: string): CallFailure {
  return { kind: 'failed', reason, message }
}

/** The message never contains an address or a part of the request. */
export function failureOf(error: unknown, stage: Stage): CallFailure {
  if (error instanceof BlockedTargetError) return failed('blocked_target', BLOCKED_TARGET_MESSAGE)
  if (error instanceof NameResolutionError) return failed('dns_error', error.message)
  const causes = causesOf(error)
  // A fault of this machine must not use up an attempt. A target must not be able to cause one.
  if (causes.some(isOutOfDescriptors)) {
    return { kind: 'local_fault', message: 'No socket could be opened on this machine.' }
  }
  if (stage === 'dns') return failed('dns_error', 'The host name could not be resolved.')
  if (error instanceof ConnectDeadlineError) {
    return failed(stage === 'tls' ? 'ssl_error' : 'connection_error', error.message)
  }
  if (error instanceof ConnectionFailedError) return failed('connection_error', error.message)
  return socketFailure(causes, stage)
}

/**
 * Whether a connect failed because this machine has no free port. A machine without IPv6 reports the same code, or no
 * route, for an IPv6 address: that alone is no shortage, and it does not hide one of IPv4.
 */
export function isPortShortage(error: unknown): boolean {
  const causes = causesOf(error)
  const ofIpv4 = causes.filter((cause) => !isIpv6(cause))
  return (
    ofIpv4.length > 0 &&
    ofIpv4.every((cause) => codeOf(cause) === 'EADDRNOTAVAIL') &&
    causes.every((cause) => NO_WAY_OUT.has(codeOf(cause)))
  )
}

function socketFailure(causes: readonly unknown[], stage: Stage): CallFailure {
  // A refusal by one of several addresses says most; otherwise take the first error.
  const cause = causes.find((one) => codeOf(one) === 'ECONNREFUSED') ?? causes[0]
  const code = codeOf(cause)
  const socketMessage = SOCKET_MESSAGES[code]
  if (socketMessage !== undefined) return failed('connection_error', socketMessage)
  if (TLS_MESSAGES[code] !== undefined) return failed('ssl_error', TLS_MESSAGES[code])
  if (stage === 'tls' || TLS_CODE.test(code))
    return failed('ssl_error', `TLS failed (${code || 'unknown error'}).`)
  if (stage === 'connect' || code.startsWith('E')) {
    return failed('connection_error', `The connection failed (${code || 'unknown error'}).`)
  }
  return failed('unknown', `The call failed (${code || 'unknown error'}).`)
}

function causesOf(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors : [error]
}

function isIpv6(cause: unknown): boolean {
  return cause instanceof Error && 'address' in cause && String(cause.address).includes(':')
}
