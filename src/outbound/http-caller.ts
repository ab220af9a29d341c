import { isCallableHost } from '../domain/net/host-name.ts'
import { SOCKETS_PER_ORIGIN_MAX } from '../domain/limits.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import type { HttpCaller, HttpCallResult } from '../ports/http-caller.ts'
import { abortAll, AbortGroups, type Abortable } from './exchange/abort-groups.ts'
import { AfterPoll } from './exchange/after-poll.ts'
import { SOCKETS_MAX_DEFAULT } from './bounds.ts'
import { ConnectionPool } from './connections/connection-pool.ts'
import type { EgressGuard } from './egress/egress-guard.ts'
import { Exchange, type ExchangeParts } from './exchange/exchange.ts'
import { createFaultLog } from './fault-log.ts'
import { LinkedList } from '../domain/linked-list.ts'
import { createNameResolver, type ResolveName } from './dns/name-resolver.ts'
import { waitForPorts } from './connections/port-waits.ts'
import { createSocketOpener, type OpenSocket } from './connections/socket-opener.ts'

export interface HttpCallerOptions {
  readonly egress: EgressGuard
  readonly clock: Clock
  readonly logger: Logger
  /** The program's version, for `user-agent`. */
  readonly version: string
  /** Names to addresses; the machine's DNS by default. */
  readonly resolve?: ResolveName
  /** Opens connections; over this machine's network by default. */
  readonly openSocket?: OpenSocket
  /** PEM certificates to trust in addition to the usual authorities. */
  readonly authorities?: readonly string[]
  readonly socketsMax?: number
  readonly socketsPerOriginMax?: number
}

/** The outbound HTTP client; docs/reference/egress.md describes it for users. `close` aborts the calls in flight. */
export function createHttpCaller(options: HttpCallerOptions): HttpCaller {
  const { clock, egress } = options
  const inFlight = new LinkedList<Abortable>()
  let closed = false
  const connections = new ConnectionPool(clock, {
    socketsMax: options.socketsMax ?? SOCKETS_MAX_DEFAULT,
    socketsPerOriginMax: options.socketsPerOriginMax ?? SOCKETS_PER_ORIGIN_MAX,
  })
  const parts: ExchangeParts = {
    clock,
    egress,
    resolve: options.resolve ?? createNameResolver({ clock }),
    openSocket: waitForPorts(
      options.openSocket ?? createSocketOpener(clock, options.authorities ?? []),
      clock,
      createFaultLog(options, NO_PORT_MESSAGE),
    ),
    connections,
    abortGroups: new AbortGroups(),
    afterPoll: new AfterPoll(),
    userAgent: `punctual/${options.version}`,
    inFlight,
    onLocalFault: createFaultLog(options, LOCAL_FAULT_MESSAGE),
  }

  return {
    call: (call, signal) => {
      if (closed || signal.aborted) return Promise.resolve(unsent({ kind: 'aborted' }))
      const url = URL.parse(call.url)
      const problem = problemOf(url)
      if (url === null || problem !== null) {
        return Promise.resolve(
          unsent({ kind: 'failed', reason: 'invalid_url', message: problem ?? 'The URL is not valid.' }),
        )
      }
      if (call.settings.isSigningUnreadable === true) {
        return Promise.resolve(unsent({ kind: 'failed', reason: 'unknown', message: UNSIGNED_MESSAGE }))
      }
      return new Promise((resolve) => {
        new Exchange(parts, call, { url, signal, resolve }).start()
      })
    },
    close: async () => {
      closed = true
      abortAll(inFlight)
      connections.close()
    },
  }
}

const UNSIGNED_MESSAGE = 'The signing secrets of the team cannot be opened.'
const NO_PORT_MESSAGE = 'This machine had no free port for connections to a target, so its calls failed'
const LOCAL_FAULT_MESSAGE = 'This machine could not open a socket, so jobs were released'

/** Why a URL cannot be called, or null. The API refuses such URLs. */
function problemOf(url: URL | null): string | null {
  if (url === null) return 'The URL is not valid.'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'The URL must be http or https.'
  if (url.username !== '' || url.password !== '') return 'The URL must not hold a user name or password.'
  if (!isCallableHost(url.hostname)) return 'The URL has no valid host.'
  return url.port === '0' ? 'The URL must not have port 0.' : null
}

type Unsent =
  | Pick<Extract<HttpCallResult, { kind: 'failed' }>, 'kind' | 'reason' | 'message'>
  | { kind: 'aborted' }

function unsent(outcome: Unsent): HttpCallResult {
  const timings = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }
  return { ...outcome, durationMs: 0, timings, requestHeaders: [] }
}
