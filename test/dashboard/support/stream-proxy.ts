/** A way to a server that can lose its streams of events, as proxies and networks do. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface StreamProxy {
  readonly url: string
  /** Ends the streams that are open, and lets no other one through until `mend`. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

export async function startStreamProxy(target: string): Promise<StreamProxy> {
  const streams = new Set<Socket>()
  let isCut = false
  const server = createServer((asked, answer) => {
    const isStream = asked.url?.startsWith('/api/events') === true
    if (isStream && isCut) return asked.socket.destroy()
    if (isStream) streams.add(asked.socket)
    const { method, headers } = asked
    const passed = request(new URL(asked.url ?? '/', target), { method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers)
      given.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => {
      streams.delete(asked.socket)
      passed.destroy()
    })
    return asked.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true
      for (const socket of streams) socket.destroy()
    },
    mend: () => {
      isCut = false
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
