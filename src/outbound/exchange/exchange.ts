import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import {
  CALL_RECORD_BODY_BYTES_MAX,
  RESPONSE_BODY_INSPECTED_BYTES_MAX,
  RESPONSE_BODY_READ_BYTES_MAX,
} from '../../domain/limits.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { HttpCall, HttpCallResult } from '../../ports/http-caller.ts'
import { leave, type Abortable, type AbortGroups, type Membership } from './abort-groups.ts'
import { BodyCollector } from './body-collector.ts'
import {
  BlockedTargetError,
  ConnectionFailedError,
  failed,
  failureOf,
  STAGE_DESCRIPTIONS,
  type CallFailure,
  type Stage,
} from '../call-failure.ts'
import type { Connection, ConnectionPool, OriginPool } from '../connections/connection-pool.ts'
import type { EgressGuard } from '../egress/egress-guard.ts'
import { literalOf } from '../../domain/net/ip-address.ts'
import type { LinkedList } from '../linked-list.ts'
import { noUsableAddress, type ResolveName } from '../dns/name-resolver.ts'
import { headersAsSent, headersToSend } from './request-headers.ts'
import type { OpenSocket } from '../connections/socket-opener.ts'
import { TextSearch } from './text-search.ts'

/** Shared by all calls of a caller. */
export interface ExchangeParts {
  readonly clock: Clock
  readonly egress: EgressGuard
  readonly resolve: ResolveName
  readonly openSocket: OpenSocket
  readonly connections: ConnectionPool
  readonly abortGroups: AbortGroups
  readonly userAgent: string
  /** A call ended because of a fault of this machine. */
  onLocalFault(fields: { readonly reason: string }): void
  /** All calls in flight. */
  readonly inFlight: LinkedList<Abortable>
}

type Outcome =
  | Pick<
      Extract<HttpCallResult, { kind: 'answered' }>,
      'kind' | 'status' | 'headers' | 'body' | 'bodyTruncated' | 'found'
    >
  | CallFailure
  | { readonly kind: 'aborted' }

type Timings = { -readonly [Part in keyof HttpCallResult['timings']]: number | null }

const TIMING_OF = {
  dns: 'dnsMs',
  connect: 'connectMs',
  tls: 'tlsMs',
  waiting: 'firstByteMs',
  reading: 'bodyMs',
} as const satisfies Record<Stage, keyof Timings>

const STOPPED = new Error('The call has ended.')

/**
 * One HTTP call from start to result: a reused connection, or egress check, DNS, connect and TLS; then request and
 * response. Owns its deadline, its reserved socket and its connection. The one object of a call is also undici's
 * handler. Every end goes through `#finish`, which acts once and ignores later events of undici and the socket.
 */
export class Exchange implements Dispatcher.DispatchHandler, Abortable {
  readonly #parts: ExchangeParts
  readonly #call: HttpCall
  readonly #url: URL
  readonly #memberships: readonly [Membership, Membership]
  readonly #resolveResult: (result: HttpCallResult) => void
  readonly #body: Buffer | null
  readonly #startedAtMs: number
  readonly #timings: Timings = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }
  #headers: string[] = []
  #cancelDeadline: () => void = ignore
  #stage: Stage | null = null
  #stageStartedAtMs = 0
  #done = false
  #pool: OriginPool | null = null
  #cancelOpening: (() => void) | null = null
  #connection: Connection | null = null
  #isReused = false
  #controller: Dispatcher.DispatchController | null = null
  #status = 0
  #responseHeaders: ReadonlyArray<readonly [string, string]> = []
  #collector: BodyCollector | null = null
  #search: TextSearch | null = null

  constructor(
    parts: ExchangeParts,
    call: HttpCall,
    { url, signal, resolve }: { url: URL; signal: AbortSignal; resolve: (result: HttpCallResult) => void },
  ) {
    this.#parts = parts
    this.#call = call
    this.#url = url
    const { abortGroups, inFlight } = parts
    this.#memberships = [abortGroups.join(signal, this), { group: inFlight, link: inFlight.append(this) }]
    this.#resolveResult = resolve
    this.#body = call.body === null || call.body === '' ? null : Buffer.from(call.body)
    this.#startedAtMs = parts.clock.monotonicMs()
  }

  start(): void {
    const { clock, connections, userAgent } = this.#parts
    const { settings, team, timeoutMs } = this.#call
    this.#headers = headersToSend(this.#call, this.#body, userAgent)
    this.#cancelDeadline = clock.after(timeoutMs, () => this.#passDeadline())
    // An idle connection of this team and policy version has passed the checks below.
    const idle = connections.takeIdle(team, settings.version, this.#url.origin)
    if (idle !== null && this.#mayReach(idle)) return this.#send(idle, true)
    if (idle !== null) connections.discard(idle)
    this.#openConnection()
  }

  /** Where our own parts are may have changed since the connection was judged. */
  #mayReach(connection: Connection): boolean {
    const { egress } = this.#parts
    const { generation } = egress
    if (connection.judgedGeneration === generation) return true
    const addresses = [connection.socket.remoteAddress ?? '']
    if (!egress.allowsAddresses(this.#url, addresses, this.#call.settings)) return false
    connection.judgedGeneration = generation
    return true
  }

  abort(): void {
    this.#finish({ kind: 'aborted' })
  }

  #openConnection(): void {
    const { settings, team } = this.#call
    const { hostname, origin } = this.#url
    if (this.#parts.egress.refusalOf(this.#url, settings) !== null)
      return this.#fail(new BlockedTargetError())
    const pool = this.#parts.connections.reserveSocket(team, settings.version, origin)
    if (pool === null) {
      return this.#finish({ kind: 'local_fault', message: 'No socket is free on this machine.' })
    }
    this.#pool = pool
    // Until a socket is being opened, the reservation is all there is to release.
    this.#cancelOpening = ignore
    // `refusalOf` has checked the literal address.
    if (literalOf(hostname) !== null) return this.#connect(pool, [bareHost(hostname)])
    void this.#lookUp(pool)
  }

  async #lookUp(pool: OriginPool): Promise<void> {
    const { egress, resolve } = this.#parts
    const { hostname } = this.#url
    this.#enter('dns')
    try {
      const addresses = await resolve(hostname)
      if (this.#done) return
      // As for a name without an address: another answer would tell which names there are inside the network.
      if (!egress.allowsAddresses(this.#url, addresses, this.#call.settings)) throw noUsableAddress()
      this.#connect(pool, addresses)
    } catch (error) {
      this.#fail(error)
    }
  }

  #connect(pool: OriginPool, addresses: readonly string[]): void {
    const { connections, openSocket } = this.#parts
    const { hostname, port, protocol } = this.#url
    const secure = protocol === 'https:'
    this.#enter('connect')
    this.#cancelOpening = openSocket(
      { host: bareHost(hostname), port: port === '' ? defaultPort(secure) : Number(port), secure, addresses },
      {
        onTlsStart: () => this.#enter('tls'),
        onOpen: (socket: Socket) => {
          this.#cancelOpening = null
          this.#send(connections.adopt(pool, socket), false)
        },
        onError: (error) => this.#fail(error),
      },
    )
  }

  #send(connection: Connection, isReused: boolean): void {
    this.#connection = connection
    this.#isReused = isReused
    this.#enter('waiting')
    // The target may have closed the idle socket since the last poll. undici checks once before it writes, but in this
    // turn of the event loop; one turn later it sees a close that has arrived.
    if (isReused) setImmediate(() => this.#dispatch(connection))
    else this.#dispatch(connection)
  }

  #dispatch({ client }: Connection): void {
    if (this.#done) return
    const { pathname, search } = this.#url
    client.dispatch(
      { path: pathname + search, method: this.#call.method, headers: this.#headers, body: this.#body },
      this,
    )
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // From here on bytes may have been sent: the request is never sent a second time.
    this.#controller = controller
    this.#connection?.awaitAnswer()
    if (this.#done) controller.abort(STOPPED)
  }

  onResponseStarted(): void {
    if (!this.#done && this.#stage === 'waiting') this.#enter('reading')
  }

  onResponseStart(controller: Dispatcher.DispatchController, statusCode: number): void {
    if (this.#done) return
    // The interim filter removes well-formed 1xx responses; this one is malformed.
    if (statusCode < 200) return this.#fail(new ConnectionFailedError('The response is not valid HTTP/1.1.'))
    this.#status = statusCode
    this.#responseHeaders = pairsOf(controller.rawHeaders)
    // They are views of up to 64 KiB that the socket read at once, which undici would keep alive as long as the call.
    controller.rawHeaders = null
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#done) return
    if (this.#collector === null) {
      this.#collector = new BodyCollector(CALL_RECORD_BODY_BYTES_MAX)
      const { sought } = this.#call
      if (sought.length > 0) this.#search = new TextSearch(sought, RESPONSE_BODY_INSPECTED_BYTES_MAX)
    }
    this.#collector.add(chunk)
    this.#search?.add(chunk)
    if (this.#collector.received > RESPONSE_BODY_READ_BYTES_MAX) this.#finish(this.#answer())
  }

  onResponseEnd(): void {
    const connection = this.#connection
    if (this.#done || connection === null) return
    // A body without a length ends with the connection, but not with a reset.
    if (connection.broken)
      return this.#finish(failed('connection_error', 'The connection was reset by the target.'))
    this.#connection = null
    this.#parts.connections.release(connection)
    this.#finish(this.#answer())
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#done) return
    const neverBegun = this.#controller === null
    if (!neverBegun || !this.#isReused || this.#connection === null) return this.#fail(error)
    // The target closed the idle connection and no byte was written: nothing is sent twice on a new one.
    this.#parts.connections.discard(this.#connection)
    this.#connection = null
    this.#enter(null)
    this.#timings.firstByteMs = null
    this.#openConnection()
  }

  #answer(): Outcome {
    const body = this.#collector?.body ?? EMPTY
    return {
      kind: 'answered',
      status: this.#status,
      headers: this.#responseHeaders,
      body,
      bodyTruncated: (this.#collector?.received ?? 0) > body.length,
      found: this.#search?.found() ?? NOTHING_FOUND,
    }
  }

  #passDeadline(): void {
    const seconds = Math.round(this.#call.timeoutMs / 100) / 10
    const doing = this.#stage === null ? '' : `, while ${STAGE_DESCRIPTIONS[this.#stage]}`
    this.#finish(failed('timeout', `No complete response within ${seconds} s${doing}.`))
  }

  #fail(error: unknown): void {
    this.#finish(failureOf(error, this.#stage ?? 'waiting'))
  }

  /** Ends the last stage and begins the next; the times of the stages add up to the duration of the call. */
  #enter(stage: Stage | null): void {
    const nowMs = this.#parts.clock.monotonicMs()
    if (this.#stage !== null) this.#timings[TIMING_OF[this.#stage]] = nowMs - this.#stageStartedAtMs
    this.#stage = stage
    this.#stageStartedAtMs = nowMs
  }

  #finish(outcome: Outcome): void {
    if (this.#done) return
    this.#done = true
    this.#enter(null)
    this.#cancelDeadline()
    this.#memberships.forEach(leave)
    this.#releaseResources()
    if (outcome.kind === 'local_fault') this.#parts.onLocalFault({ reason: outcome.message })
    this.#resolveResult({
      ...outcome,
      durationMs: this.#stageStartedAtMs - this.#startedAtMs,
      timings: this.#timings,
      requestHeaders: this.#requestHeaders(),
    })
  }

  /** Releases what a call that failed still holds. */
  #releaseResources(): void {
    const { connections } = this.#parts
    if (this.#cancelOpening !== null && this.#pool !== null) {
      this.#cancelOpening()
      connections.releaseSocket(this.#pool)
    }
    if (this.#connection === null) return
    this.#controller?.abort(STOPPED)
    connections.discard(this.#connection)
  }

  #requestHeaders(): HttpCallResult['requestHeaders'] {
    if (this.#headers.length === 0) return []
    return headersAsSent(this.#headers, this.#call, {
      host: this.#url.host,
      bodyBytes: this.#body?.length ?? 0,
    })
  }
}

const EMPTY = new Uint8Array(0)
const NOTHING_FOUND: ReadonlySet<string> = new Set()

function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
}

function defaultPort(secure: boolean): number {
  return secure ? 443 : 80
}

function pairsOf(raw: Dispatcher.DispatchController['rawHeaders']): ReadonlyArray<readonly [string, string]> {
  if (!Array.isArray(raw)) return []
  const pairs: Array<readonly [string, string]> = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    pairs.push([raw[at]?.toString('latin1') ?? '', raw[at + 1]?.toString('latin1') ?? ''])
  }
  return pairs
}

function ignore(): void {}
