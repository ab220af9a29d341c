/** Targets for the outbound client's tests: raw TCP servers that do what no HTTP library would, and a caller. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { EgressGuard, type EgressSettings } from '../../../src/outbound/egress/egress-guard.ts'
import { createHttpCaller, type HttpCallerOptions } from '../../../src/outbound/http-caller.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { quietLogger } from '../quiet.ts'
import type { HttpCall, HttpCallResult } from '../../../src/ports/http-caller.ts'
import type { TeamSettings } from '../../../src/ports/settings.ts'
import { NO_QUOTAS } from '../../../src/domain/quotas.ts'

export interface RawTarget {
  readonly port: number
  readonly url: string
  /** Connections accepted so far. */
  readonly connections: () => number
  /** All that was received, over all connections. */
  readonly received: () => string
  readonly close: () => Promise<void>
}

/** A TCP server on loopback. `serve` runs once per request head (its blank line), with the connection's number from 1. */
export async function startRawTarget(
  serve: (socket: Socket, connection: number, request: number) => void,
): Promise<RawTarget> {
  let connections = 0
  let received = ''
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    connections += 1
    const connection = connections
    let requests = 0
    let unread = ''
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      unread += chunk.toString('latin1')
      for (let end = unread.indexOf('\r\n\r\n'); end >= 0; end = unread.indexOf('\r\n\r\n')) {
        unread = unread.slice(end + 4)
        requests += 1
        serve(socket, connection, requests)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    connections: () => connections,
    received: () => received,
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

export const LOOPBACK_OPEN: EgressSettings = {
  allow: ['127.0.0.0/8', '::1'],
  deny: [],
  allowable: null,
  clusterCidrs: [],
  ownHosts: [],
}

export interface TestCaller {
  /** Calls with defaults: GET, 5 s, team `a`. */
  call(url: string, fields?: Partial<HttpCall>, signal?: AbortSignal): Promise<HttpCallResult>
  close(): Promise<void>
}

export function startCaller(
  options: Partial<HttpCallerOptions> & { egressSettings?: EgressSettings } = {},
): TestCaller {
  const { egressSettings = LOOPBACK_OPEN, ...others } = options
  const caller = createHttpCaller({
    egress: new EgressGuard(egressSettings),
    clock: systemClock,
    logger: quietLogger,
    version: '0.0.0',
    ...others,
  })
  return {
    call: (url, fields = {}, signal = new AbortController().signal) =>
      caller.call({ ...DEFAULTS, url, ...fields }, signal),
    close: () => caller.close(),
  }
}

export function teamSettings(fields: Partial<TeamSettings> = {}): TeamSettings {
  return {
    version: 1,
    egressAllow: [],
    signingSecrets: [],
    signingSecretIds: [],
    headerSecrets: [],
    quotas: NO_QUOTAS,
    channels: [],
    members: [],
    ...fields,
  }
}

const DEFAULTS: Omit<HttpCall, 'url'> = {
  team: 'a',
  settings: teamSettings(),
  method: 'GET',
  headers: {},
  body: null,
  contentType: 'application/json',
  sought: [],
  timeoutMs: 5_000,
  webhookId: 'wh',
  timestampSeconds: 1_614_265_330,
  identity: { 'Job-Id': '42', Attempt: '1', 'Fencing-Token': '7' },
}

/** A promise and the function that fulfils it. */
export function createLatch(): { readonly reached: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { reached: promise, open: () => resolve() }
}
