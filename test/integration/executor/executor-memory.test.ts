import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startInstallation } from '../../support/engine/installation.ts'
import { startRawTarget } from '../../support/targets/outbound-targets.ts'
import { until } from '../../support/until.ts'

const CALLS = 1_000
const SENT_BYTES = 270_000
/** Memory for the record, its assertions and a socket, with slack for the allocator. */
const GROWTH_MIB_MAX = 200

test('responses that stop half-way take no more memory than their records need', async () => {
  const here = await startInstallation()
  const [executor] = here.executors
  const pid = executor?.pid ?? 0
  const part = Buffer.alloc(SENT_BYTES, 'a')
  let sent = 0
  const target = await startRawTarget((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n')
    socket.write(part, () => (sent += 1))
  })
  const before = residentMib(pid)
  const push = () => here.client.push({ queue: 'slow', url: target.url, timeout_seconds: 300 })
  for (let pushed = 0; pushed < CALLS; pushed += 100) {
    await Promise.all(Array.from({ length: 100 }, push))
  }
  await until('all is handed to the system', () => sent === CALLS, 60_000)
  await until('all is read by the executor', () => bytesUnderWay(target.port) === 0)
  expect(residentMib(pid) - before).toBeLessThan(GROWTH_MIB_MAX)
  await target.close()
  await here.close()
})

function residentMib(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}

/** Bytes in the socket buffers of this port, as Linux reports them. */
function bytesUnderWay(port: number): number {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  let bytes = 0
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local = '', remote = '', , queues = ''] = line.trim().split(/\s+/)
    if (!local.endsWith(end) && !remote.endsWith(end)) continue
    for (const queue of queues.split(':')) bytes += Number.parseInt(queue, 16)
  }
  return bytes
}
