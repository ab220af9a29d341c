import type { Socket } from 'node:net'
import {
  CALL_RECORD_BODY_BYTES_MAX,
  RESPONSE_BODY_INSPECTED_BYTES_MAX,
  RESPONSE_BODY_READ_BYTES_MAX,
} from '../../domain/limits.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { HttpCall, HttpCallResult } from '../../ports/http-caller.ts'
import { leave, type Abortable, type AbortGroups, type Membership } from './abort-groups.ts'
import type { AfterPoll, Waiting } from './after-poll.ts'
import { AnsweredResult, headerPairs } from './answered-result.ts'
import { BodyCollector } from './body-collector.ts'
import {
  BlockedTargetError,
  closedEarly,
  failed,
  failureOf,
  STAGE_DESCRIPTIONS,
  type CallFailure,
  type Stage,
} from '../call-failure.ts'
import type { ConnectionPool } from '../connections/connection-pool.ts'
import type { Connection, ConnectionUser, OriginPool } from '../connections/connection.ts'
import type { EgressGuard } from '../egress/egress-guard.ts'
import { literalOf } from '../../domain/net/ip-address.ts'
import type { ResponseHead } from '../wire/response-head.ts'
import type { LinkedList } from '../../domain/linked-list.ts'
import { noUsableAddress, type ResolveName } from '../dns/name-resolver.ts'
import { headersToSend, requestOf, type CallBody } from './request-headers.ts'
import { requestTarget } from './request-target.ts'
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
  readonly afterPoll: AfterPoll
  readonly userAgent: string
  /** A call ended because of a fault of this machine. */
  onLocalFault(fields: { readonly reason: string }): void
  /** All calls in flight. */
  readonly inFlight: LinkedList<Abortable>
}

/** `head` is that of the response. */
type Outcome =
  | { readonly kind: 'answered'; readonly head: ResponseHead }
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

/**
 * One HTTP call from start to result: a reused connection, or egress check, DNS, connect and TLS; then request and
 * response. Owns its deadline, its reserved socket and its connection, whose events it takes itself. Every end goes
 * through `#finish`, which acts once.
 */
export class Exchange implements ConnectionUser, Abortable, Waiting {
  readonly #parts: ExchangeParts
  readonly #call: HttpCall
  readonly #url: URL
  readonly #memberships: readonly [Membership, Membership]
  readonly #resolveResult: (result: HttpCallResult) => void
  readonly #body: CallBody
  readonly #startedAtMs: number
  readonly #timings: Timings = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }
  /** Names and values in turn. */
  #headers: readonly string[] = []
  #cancelDeadline: () => void = ignore
  #stage: Stage | null = null
  #stageStartedAtMs = 0
  #done = false
  #pool: OriginPool | null = null
  #cancelOpening: (() => void) | null = null
  #connection: Connection | null = null
  #isReused = false
  #head: ResponseHead | null = null
  #collector: BodyCollector | null = null
  #search: TextSearch | null = null
  /** What is wrong with the body; null = nothing. */
  #bodyNote: string | null = null
  #isBodyCutShort = false

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
    this.#body =
      call.body === null || call.body.length === 0
        ? NO_BODY
        : { content: call.body, bytes: Buffer.byteLength(call.body) }
    this.#startedAtMs = parts.clock.monotonicMs()
  }

  start(): void {
    const { clock, connections, userAgent } = this.#parts
    const { settings, team, timeoutMs } = this.#call
    this.#headers = headersToSend(this.#call, this.#body, { host: this.#url.host, userAgent })
    this.#cancelDeadline = clock.after(timeoutMs, () => this.#passDeadline())
    // An idle connection of this team and policy version has passed the checks below.
    const idle = connections.takeIdle(team, settings.version, this.#url.origin)
    if (idle !== null && this.#mayReach(idle)) return this.#send(idle, true)
    if (idle !== null) connections.discard(idle)
    this.#openConnection()
  }

  /** Judges an idle connection again if our own addresses may have changed since it was judged. */
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
      if (!egress.allowsAddresses(this.#url, addresses, this.#call.settings)) throw refusalOf(hostname)
      this.#connect(pool, addresses)
    } catch (error) {
      this.#fail(error)
    }
  }

  #connect(pool: OriginPool, addresses: readonly string[]): void {
    const { connections, openSocket, egress } = this.#parts
    const { hostname, port, protocol } = this.#url
    const secure = protocol === 'https:'
    this.#enter('connect')
    this.#cancelOpening = openSocket(
      {
        host: bareHost(hostname),
        port: port === '' ? defaultPort(secure) : Number(port),
        secure,
        addresses,
        refusalOf: (address) =>
          egress.allowsAddresses(this.#url, [address], this.#call.settings) ? null : refusalOf(hostname),
      },
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
    // The target may have closed the idle socket since the last poll.
    if (isReused) this.#parts.afterPoll.add(this)
    else this.#write(connection)
  }

  afterPoll(): void {
    if (this.#connection !== null) this.#write(this.#connection)
  }

  #write(connection: Connection): void {
    if (connection.isOpen) {
      const line = `${this.#call.method} ${requestTarget(this.#call.url)} HTTP/1.1\r\n`
      const request = requestOf(line, this.#headers, this.#body)
      // From here on bytes may have been sent: the request is never sent a second time.
      return connection.send(request, this)
    }
    if (!this.#isReused) return this.#fail(closedEarly())
    // Nothing was written to the idle connection, so nothing is sent twice on a new one.
    this.#parts.connections.discard(connection)
    this.#connection = null
    this.#enter(null)
    this.#timings.firstByteMs = null
    this.#openConnection()
  }

  onResponseBegin(): void {
    this.#enter('reading')
  }

  onResponseHead(head: ResponseHead): void {
    this.#head = head
  }

  onResponseBody(bytes: Buffer): void {
    if (this.#collector === null) {
      this.#collector = new BodyCollector(CALL_RECORD_BODY_BYTES_MAX)
      const { sought } = this.#call
      if (sought.length > 0) this.#search = new TextSearch(sought, RESPONSE_BODY_INSPECTED_BYTES_MAX)
    }
    this.#collector.add(bytes)
    this.#search?.add(bytes)
    if (this.#collector.received > RESPONSE_BODY_READ_BYTES_MAX) this.#answer()
  }

  onResponseEnd(keepAliveMs: number, note: string | null): void {
    const connection = this.#connection
    if (connection === null) return
    this.#connection = null
    this.#bodyNote = note
    // Of several lengths the lowest counted: the body may have been longer.
    this.#isBodyCutShort = this.#head?.isEndSure === false && typeof this.#head.bodyEnd === 'number'
    this.#parts.connections.release(connection, keepAliveMs)
    this.#answer()
  }

  onResponseCut(note: string): void {
    this.#bodyNote = note
    this.#isBodyCutShort = true
    this.#answer()
  }

  onConnectionError(error: Error): void {
    this.#fail(error)
  }

  #answer(): void {
    if (this.#head !== null) this.#finish({ kind: 'answered', head: this.#head })
  }

  #passDeadline(): void {
    // Nobody knows whether the body goes on: the status is all there is to wait for.
    if (this.#head?.isEndSure === false) return this.onResponseCut('The body did not end in time.')
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
    this.#resolveResult(this.#resultOf(outcome))
  }

  #resultOf(outcome: Outcome): HttpCallResult {
    const timings = this.#timings
    const durationMs = this.#stageStartedAtMs - this.#startedAtMs
    if (outcome.kind !== 'answered') {
      return { ...outcome, durationMs, timings, requestHeaders: headerPairs(this.#headers) }
    }
    const body = this.#collector?.body ?? EMPTY
    return new AnsweredResult(this.#headers, outcome.head, {
      durationMs,
      timings,
      body,
      bodyTruncated: (this.#collector?.received ?? 0) > body.length,
      found: this.#search?.found() ?? NOTHING_FOUND,
      bodyNote: this.#bodyNote,
      isBodyCutShort: this.#isBodyCutShort,
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
    connections.discard(this.#connection)
    this.#connection = null
  }
}

const NO_BODY: CallBody = { content: null, bytes: 0 }
const EMPTY = new Uint8Array(0)
const NOTHING_FOUND: ReadonlySet<string> = new Set()

/** A name is refused as if it had no address: another answer would tell which names there are inside the network. */
function refusalOf(hostname: string): Error {
  return literalOf(hostname) === null ? noUsableAddress() : new BlockedTargetError()
}

function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
}

function defaultPort(secure: boolean): number {
  return secure ? 443 : 80
}

function ignore(): void {}
