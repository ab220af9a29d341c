import { describe, expect, test } from 'vitest'
import {
  BlockedTargetError,
  failureOf,
  isPortShortage,
  ConnectionFailedError,
  type Stage,
} from '../../../src/outbound/call-failure.ts'
import { NameResolutionError } from '../../../src/outbound/dns/name-resolver.ts'

function systemError(code: string, address = '198.51.100.7'): Error {
  return Object.assign(new Error(`connect ${code} ${address}:443`), { code, address })
}

describe('a fault of this machine', () => {
  test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])('%s burns no attempt', (code) => {
    expect(failureOf(systemError(code), 'connect').kind).toBe('local_fault')
  })

  test('one address without a descriptor is enough', () => {
    const error = new AggregateError([systemError('ECONNREFUSED'), systemError('EMFILE')])
    expect(failureOf(error, 'connect').kind).toBe('local_fault')
  })
})

describe('a want of ports', () => {
  const noRoute = (code: string) => systemError(code, '2001:db8::1')

  test.each<[string, Error]>([
    ['one address', systemError('EADDRNOTAVAIL')],
    ['all addresses', new AggregateError([systemError('EADDRNOTAVAIL'), systemError('EADDRNOTAVAIL')])],
    [
      'an IPv4 address beside an IPv6 one without a route',
      new AggregateError([noRoute('ENETUNREACH'), systemError('EADDRNOTAVAIL'), noRoute('EADDRNOTAVAIL')]),
    ],
  ])('is seen at %s', (_name, error) => {
    expect(isPortShortage(error)).toBe(true)
  })

  test.each<[string, Error]>([
    ['an IPv6 address alone', noRoute('EADDRNOTAVAIL')],
    ['an address that answered', new AggregateError([systemError('EADDRNOTAVAIL'), noRoute('ECONNREFUSED')])],
    [
      'another address that was tried',
      new AggregateError([systemError('EADDRNOTAVAIL'), systemError('ETIMEDOUT')]),
    ],
    ['a machine without a route', systemError('ENETUNREACH')],
  ])('is not seen at %s', (_name, error) => {
    expect(isPortShortage(error)).toBe(false)
    expect(failureOf(error, 'connect')).toMatchObject({ kind: 'failed', reason: 'connection_error' })
  })

  test('fails the attempt once waited for, and says whose fault it is', () => {
    expect(
      failureOf(
        new ConnectionFailedError('This machine has no free port for a connection to the target.'),
        'connect',
      ),
    ).toEqual({
      kind: 'failed',
      reason: 'connection_error',
      message: 'This machine has no free port for a connection to the target.',
    })
  })
})

test.each<[string, Stage, string]>([
  ['ECONNREFUSED', 'connect', 'connection_error'],
  ['ECONNRESET', 'tls', 'connection_error'],
  ['ECONNRESET', 'reading', 'connection_error'],
  ['EHOSTUNREACH', 'connect', 'connection_error'],
  ['EWHATEVER', 'connect', 'connection_error'],
  ['CERT_HAS_EXPIRED', 'tls', 'ssl_error'],
  ['EPROTO', 'tls', 'ssl_error'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'waiting', 'ssl_error'],
  ['SOMETHING_ELSE', 'waiting', 'unknown'],
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
