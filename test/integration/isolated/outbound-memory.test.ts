import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createSocketOpener } from '../../../src/outbound/connections/socket-opener.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { startCaller, startRawTarget } from '../../support/targets/outbound-targets.ts'
import { until } from '../../support/until.ts'

const CALLS = 100
const SENT_BYTES = 270_000
/** What the record needs, with as much again for the heads and what lies around. */
const PER_CALL_BYTES_MAX = 2 * 16 * 1024

test('a body that stops on its way holds no more memory than its record needs', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const sockets: Socket[] = []
  const open = createSocketOpener(systemClock, [])
  const caller = startCaller({
    openSocket: (target, events) => {
      const onOpen = (socket: Socket) => {
        sockets.push(socket)
        events.onOpen(socket)
      }
      return open(target, { ...events, onOpen })
    },
  })
  const part = Buffer.alloc(SENT_BYTES, 'a')
  const { url, close } = await startRawTarget((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n')
    socket.write(part)
  })
  collectGarbage()
  const before = process.memoryUsage().arrayBuffers
  const calls = Array.from({ length: CALLS }, () =>
    caller.call(url, { sought: ['never'], timeoutMs: 60_000 }),
  )
  await until('all has arrived', () => {
    const arrived = sockets.filter(({ bytesRead }) => bytesRead > SENT_BYTES)
    return arrived.length === CALLS
  })
  const heldPerCall = (): number => {
    collectGarbage()
    return (process.memoryUsage().arrayBuffers - before) / CALLS
  }
  // The last piece of each body may still be on its way through the parser.
  await until('no more is held than records need', () => heldPerCall() < PER_CALL_BYTES_MAX)
  expect(heldPerCall()).toBeGreaterThan(16 * 1024)
  await caller.close()
  await Promise.all(calls)
  await close()
})
