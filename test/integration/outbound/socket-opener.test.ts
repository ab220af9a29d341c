import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import { ADDRESSES_TRIED_MAX } from '../../../src/outbound/bounds.ts'
import { BlockedTargetError } from '../../../src/outbound/call-failure.ts'
import { createSocketOpener } from '../../../src/outbound/connections/socket-opener.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((of) => of?.some(({ address }) => address === '::1'))
const open = createSocketOpener(systemClock, [])
const servers: Server[] = []

async function listen(host: string): Promise<{ readonly port: number; readonly accepted: () => number }> {
  let accepted = 0
  const server = createServer((socket) => {
    accepted += 1
    socket.on('error', () => {})
    socket.on('close', () => socket.destroy())
  })
  server.listen(0, host)
  await once(server, 'listening')
  servers.push(server)
  return { port: (server.address() as AddressInfo).port, accepted: () => accepted }
}

/** The address that a connection was made to, or the error. */
async function reached(addresses: readonly string[], port: number): Promise<string | undefined | Error> {
  const end = await new Promise<Socket | Error>((resolve) => {
    open(
      { host: 'many.test', port, secure: false, addresses, refusalOf: () => null },
      { onTlsStart: () => {}, onOpen: resolve, onError: resolve },
    )
  })
  if (end instanceof Error) return end
  const peer = end.remoteAddress
  end.destroy()
  return peer
}

/** Nobody listens there. */
const refusing = (count: number) => Array.from({ length: count }, (_, at) => `127.77.0.${at + 1}`)
/** Nobody can be there: `::2` and so on are no addresses of this machine. */
const absent = (count: number) => Array.from({ length: count }, (_, at) => `::${at + 2}`)

afterEach(async () => {
  await Promise.all(
    servers.splice(0).map(async (server) => {
      server.close()
      await once(server, 'close')
    }),
  )
})

describe('of several addresses', () => {
  test('those of the other family are tried when the first refuse', async (context) => {
    if (!hasIpv6) context.skip('no IPv6 on this machine')
    const ipv6 = await listen('::1')
    expect(await reached(['127.77.0.1', '::1'], ipv6.port)).toBe('::1')
    const ipv4 = await listen('127.0.0.1')
    expect(await reached(['::1', '127.0.0.1'], ipv4.port)).toBe('127.0.0.1')
  })

  test('many of one family do not crowd the other out', async (context) => {
    if (!hasIpv6) context.skip('no IPv6 on this machine')
    const ipv6 = await listen('::1')
    expect(await reached([...refusing(ADDRESSES_TRIED_MAX), '::1'], ipv6.port)).toBe('::1')
    const ipv4 = await listen('127.0.0.1')
    expect(await reached([...absent(ADDRESSES_TRIED_MAX), '127.0.0.1'], ipv4.port)).toBe('127.0.0.1')
  })

  test('so many are tried and no more', async () => {
    const { port } = await listen('127.0.0.1')
    expect(await reached([...refusing(ADDRESSES_TRIED_MAX - 1), '127.0.0.1'], port)).toBe('127.0.0.1')
    expect(await reached([...refusing(ADDRESSES_TRIED_MAX), '127.0.0.1'], port)).toBeInstanceOf(
      AggregateError,
    )
  })
})

// Linux connects 0.0.0.0 to loopback: the peer is another address than the one that was checked.
describe('a peer that was not checked', () => {
  test.each([
    ['alone', ['0.0.0.0']],
    ['among several', ['0.0.0.0', '127.77.0.1']],
  ])('is left at once: %s', async (_name, addresses) => {
    const { port } = await listen('127.0.0.1')
    expect(await reached(addresses, port)).toBeInstanceOf(BlockedTargetError)
  })

  test('is told by its number, not its spelling', async (context) => {
    if (!hasIpv6) context.skip('no IPv6 on this machine')
    const { port } = await listen('::1')
    expect(await reached(['0:0:0:0:0:0:0:1'], port)).toBe('::1')
  })
})
