import { describe, expect, test } from 'vitest'
import { BlockedTargetError, failureOf, type Stage } from '../../../src/outbound/call-failure.ts'
import { NameResolutionError } from '../../../src/outbound/name-resolver.ts'

function systemError(code: string, address = '198.51.100.7'): Error {
  return Object.assign(new Error(`connect ${code} ${address}:443`), { code, address })
}

describe('a fault of this machine', () => {
  test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'EADDRNOTAVAIL'])('%s burns no attempt', (code) => {
    expect(failureOf(systemError(code), 'connect').kind).toBe('local_fault')
  })

  test('one address without a descriptor is enough', () => {
    const error = new AggregateError([systemError('ECONNREFUSED'), systemError('EMFILE')])
    expect(failureOf(error, 'connect').kind).toBe('local_fault')
  })

  test('an IPv6 address that cannot be had is the fault of no port', () => {
    expect(failureOf(systemError('EADDRNOTAVAIL', '2001:db8::1'), 'connect')).toMatchObject({
      reason: 'connection_error',
    })
    const mixed = new AggregateError([systemError('EADDRNOTAVAIL'), systemError('ECONNREFUSED')])
    expect(failureOf(mixed, 'connect')).toMatchObject({ reason: 'connection_error' })
  })
})

test.each<[string, Stage, string]>([
  ['ECONNREFUSED', 'connect', 'connection_error'],
  ['ECONNRESET', 'tls', 'connection_error'],
  ['ECONNRESET', 'reading', 'connection_error'],
  ['EHOSTUNREACH', 'connect', 'connection_error'],
  ['EWHATEVER', 'connect', 'connection_error'],
  ['UND_ERR_HEADERS_OVERFLOW', 'waiting', 'connection_error'],
  ['CERT_HAS_EXPIRED', 'tls', 'ssl_error'],
  ['EPROTO', 'tls', 'ssl_error'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'waiting', 'ssl_error'],
  ['UND_ERR_INVALID_ARG', 'waiting', 'unknown'],
])('%s while %s is a %s', (code, stage, reason) => {
  const failure = failureOf(systemError(code), stage)
  expect(failure).toMatchObject({ kind: 'failed', reason })
  expect(failure.message).not.toContain('198.51.100.7')
})

test('a blocked target has one text', () => {
  const failure = failureOf(new BlockedTargetError(), 'dns')
  expect(failure).toEqual({
    kind: 'failed',
    reason: 'blocked_target',
    message: 'The target is not allowed by the egress policy.',
  })
})

test('a name that does not resolve says why', () => {
  expect(failureOf(new NameResolutionError('No such name.'), 'dns')).toMatchObject({
    reason: 'dns_error',
    message: 'No such name.',
  })
  expect(failureOf(new Error('a resolver that breaks its word'), 'dns')).toMatchObject({
    reason: 'dns_error',
  })
})
