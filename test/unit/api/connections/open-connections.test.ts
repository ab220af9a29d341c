import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ConnectionLimiter } from '../../../../src/api/connections/connection-limiter.ts'
import { type OpenConnection, OpenConnections } from '../../../../src/api/connections/open-connections.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

const socketOf = (remoteAddress: string) => ({ remoteAddress }) as unknown as Socket
const WHOLE = { complete: true } as IncomingMessage
const ANSWER = {} as ServerResponse

/** Connections of these addresses, in this order. */
function openFrom(...addresses: readonly string[]) {
  const connections = new OpenConnections()
  const list = addresses.map((address) => connections.add(socketOf(address)))
  const begin = (...which: readonly OpenConnection[]) => {
    for (const one of which) connections.begin(one, WHOLE, ANSWER)
  }
  return { connections, list, begin }
}

describe('of idle connections', () => {
  const ANY = { mayBeFresh: true }

  test('the one goes that was idle for longest, whenever it was opened', () => {
    const { connections, list, begin } = openFrom('a', 'a', 'a', 'b')
    const [first, second, third, newcomer] = list as [
      OpenConnection,
      OpenConnection,
      OpenConnection,
      OpenConnection,
    ]
    expect(connections.idleToClose(newcomer, ANY)).toBe(first)
    begin(first)
    expect(connections.idleToClose(newcomer, ANY)).toBe(second)
    connections.end(first)
    connections.remove(second.socket)
    expect(connections.idleToClose(newcomer, ANY)).toBe(third)
    connections.remove(third.socket)
    expect(connections.idleToClose(newcomer, ANY)).toBe(first)
  })

  test('of which two requests were begun, none goes before both are answered', () => {
    const { connections, list, begin } = openFrom('a', 'b')
    const [first, newcomer] = list as [OpenConnection, OpenConnection]
    begin(first, first)
    connections.end(first)
    expect(connections.idleToClose(newcomer, ANY)).toBeNull()
    connections.end(first)
    expect(connections.idleToClose(newcomer, ANY)).toBe(first)
  })

  test('an address that had most is forgotten with its last', () => {
    const { connections, list } = openFrom('a', 'a', 'a', 'b', 'b', 'c')
    for (const { socket } of list.slice(0, 2)) connections.remove(socket)
    connections.remove(list[0]!.socket)
    expect(connections.size).toBe(4)
    expect(connections.idleToClose(list[5]!, ANY)).toBe(list[3])
  })
})

describe('of busy connections', () => {
  test.each([
    ['as many as the address of the newcomer, with it', ['a', 'a', 'b', 'b'], 0],
    ['as many, though that of the newcomer was there first', ['b', 'a', 'a', 'b'], 1],
    ['one each, as all have', ['a', 'c', 'd', 'b'], 0],
    ['most, though another is older', ['c', 'a', 'a', 'b'], 1],
    ['less than the address of the newcomer', ['a', 'b', 'b', 'b'], null],
  ])('one of an address goes that has %s', (_case, addresses, index) => {
    const { connections, list, begin } = openFrom(...addresses)
    begin(...list.slice(0, -1))
    expect(connections.busyToClose(list.at(-1)!)).toBe(index === null ? null : list[index])
  })

  test('those that have gone count no more', () => {
    const { connections, list, begin } = openFrom('a', 'a', 'a', 'b', 'b', 'c')
    begin(...list.slice(0, -1))
    connections.remove(list[0]!.socket)
    connections.remove(list[1]!.socket)
    expect(connections.busyToClose(list[5]!)).toBe(list[3])
  })
})

test('the place of a connection that is closed is free at once, however many come in one turn', () => {
  const server = new EventEmitter() as Server
  const limiter = new ConnectionLimiter(server, { max: 2, clock: createFakeClock(), logger: quietLogger })
  const closed: string[] = []
  for (const name of ['1', '2', '3', '4', '5']) {
    const socket = new EventEmitter() as Socket
    Object.assign(socket, { remoteAddress: `192.0.2.${name}`, destroy: () => closed.push(name) })
    server.emit('connection', socket)
  }
  expect(closed).toEqual(['1', '2', '3'])
  limiter.closeAll()
  expect(closed).toEqual(['1', '2', '3', '4', '5'])
})
