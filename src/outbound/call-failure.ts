/** Turns what sockets, TLS and the HTTP parser throw into a failure reason and a sentence for people. */
import { errors } from 'undici'
import { RESPONSE_HEADER_BYTES_MAX } from '../domain/limits.ts'
import type { FailureReason } from '../domain/jobs/job.ts'
import { BLOCKED_TARGET_MESSAGE } from './egress/egress-guard.ts'
import { NameResolutionError } from './dns/name-resolver.ts'
import { codeOf, isOutOfDescriptors } from './system-error.ts'

/** The parts of a call, in order. */
export type Stage = 'dns' | 'connect' | 'tls' | 'waiting' | 'reading'

export type CallFailure =
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly message: string }
  | { readonly kind: 'local_fault'; readonly message: string }

/** The connected address was not one that had been checked, or a check refused the addresses. */
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

/** What came is no answer that the call can take; the message is for people. */
export class AnswerError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AnswerError'
  }
}

/** No port came free towards the target within the waits of a call. */
export class PortShortageError extends Error {
  constructor() {
    super('This machine has no free port towards the target.')
    this.name = 'PortShortageError'
  }
}

const SOCKET_MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset by the target.',
  EPIPE: 'The connection was closed by the target while the request was sent.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The network cannot be reached.',
  EADDRNOTAVAIL: 'This machine has no address from which the target can be reached.',
  EAFNOSUPPORT: 'The network cannot be reached.',
  ETIMEDOUT: 'The host did not answer in time.',
  UND_ERR_SOCKET: 'The connection was closed before the answer was complete.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The answer was shorter or longer than its Content-Length.',
  UND_ERR_HEADERS_OVERFLOW: `The response headers are larger than ${RESPONSE_HEADER_BYTES_MAX / 1024} KiB.`,
}

const TLS_MESSAGES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate is signed by an authority that is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT: 'The certificate is signed by an authority that is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate is signed by an authority that is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate is signed by an authority that is not trusted.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'The target does not speak TLS on this port.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'The target does not speak TLS on this port.',
}

/** Said by this machine of itself: nothing has reached the target. */
const NO_WAY_OUT = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EHOSTUNREACH', 'ENETUNREACH'])

export const STAGE_DESCRIPTIONS: Readonly<Record<Stage, string>> = {
  dns: 'looking up the host name',
  connect: 'connecting',
  tls: 'in the TLS handshake',
  waiting: 'waiting for the answer',
  reading: 'reading the answer',
}

export function failed(reason: FailureReason, message: string): CallFailure {
  return { kind: 'failed', reason, message }
}

/** Never puts an address or a part of the request into the message. */
export function failureOf(error: unknown, stage: Stage): CallFailure {
  if (error instanceof BlockedTargetError) return failed('blocked_target', BLOCKED_TARGET_MESSAGE)
  if (error instanceof NameResolutionError) return failed('dns_error', error.message)
  const causes = causesOf(error)
  // A fault of the whole machine, for which no attempt may be burnt. A target must not be able to cause one.
  if (causes.some(isOutOfDescriptors)) {
    return { kind: 'local_fault', message: 'No socket could be opened on this machine.' }
  }
  if (stage === 'dns') return failed('dns_error', 'The host name could not be resolved.')
  if (error instanceof ConnectDeadlineError) {
    return failed(stage === 'tls' ? 'ssl_error' : 'connection_error', error.message)
  }
  if (error instanceof PortShortageError || error instanceof AnswerError) {
    return failed('connection_error', error.message)
  }
  return socketFailure(causes, stage)
}

/**
 * Whether a connect failed for want of a free port here. On a machine without IPv6 a connect to an IPv6 address says
 * the same, or that there is no route: of itself that is no such want, and beside one it does not hide it.
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
  // Of several addresses the refusal tells most; else the first.
  const cause = causes.find((one) => codeOf(one) === 'ECONNREFUSED') ?? causes[0]
  const code = codeOf(cause)
  const socketMessage = SOCKET_MESSAGES[code]
  if (socketMessage !== undefined) return failed('connection_error', socketMessage)
  if (cause instanceof errors.HTTPParserError)
    return failed('connection_error', 'The answer is not valid HTTP/1.1.')
  if (TLS_MESSAGES[code] !== undefined) return failed('ssl_error', TLS_MESSAGES[code])
  if (stage === 'tls' || isTlsCode(code))
    return failed('ssl_error', `TLS failed (${code || 'unknown error'}).`)
  if (stage === 'connect' || code.startsWith('E')) {
    return failed('connection_error', `The connection failed (${code || 'unknown error'}).`)
  }
  return failed('unknown', `The call failed (${code || 'unknown error'}).`)
}

function isTlsCode(code: string): boolean {
  return (
    code.startsWith('ERR_SSL_') ||
    code.startsWith('ERR_TLS_') ||
    code.startsWith('CERT_') ||
    code === 'EPROTO'
  )
}

function causesOf(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors : [error]
}

function isIpv6(cause: unknown): boolean {
  return cause instanceof Error && 'address' in cause && String(cause.address).includes(':')
}
