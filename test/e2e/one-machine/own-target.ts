import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A program of this machine that containers reach, as a reader of the README has one. */
export interface OwnTarget {
  readonly port: number
  /** Methods and paths of what arrived, in order. */
  readonly calls: readonly string[]
  close(): Promise<void>
}

/** Listens on all addresses: that of Docker's bridge is one of them. */
export async function startOwnTarget(): Promise<OwnTarget> {
  const calls: string[] = []
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`)
    request.resume()
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
