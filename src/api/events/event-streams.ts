import type { ServerResponse } from 'node:http'
import type { Principal } from '../../domain/access/principal.ts'
import { FairPlaces } from '../../domain/shares/fair-places.ts'
import type { Clock } from '../../ports/runtime.ts'
import { answerRetryLater } from '../answers.ts'
import { HEARTBEAT, OPENING } from './event-text.ts'
import { TeamWatch, type TeamWatchParts } from './team-watch.ts'

/** Streams of all teams, in one process. */
export const STREAMS_MAX = 1_000
/**
 * Shares of the streams that one team may take while others have none, and one token or user: all people may share one
 * on a machine.
 */
const SHARES = { team: 0.8, subject: 0.25 }
const HEARTBEAT_MS = 15_000
/** Heartbeats between two checks that the subject may still read. */
const BEATS_PER_CHECK = 4
/** A reader with more unsent bytes does not keep up and is cut off. It learns what it missed when it comes again. */
const WAITING_BYTES_MAX = 64 * 1024
const HEADERS = [
  ['Content-Type', 'text/event-stream; charset=utf-8'],
  ['X-Content-Type-Options', 'nosniff'],
  // No proxy may gather or change what comes in pieces.
  ['Cache-Control', 'no-cache, no-transform'],
  ['X-Accel-Buffering', 'no'],
].flat()

const ALL_TAKEN = 'This process has no event stream left, try again'
const SHARE_TAKEN = {
  team: 'The team already has its share of the event streams of this process, try again later',
  subject: 'This token or user already has its share of the event streams of this process, try again later',
}

export interface EventStreamsParts extends TeamWatchParts {
  /** STREAMS_MAX when absent. */
  readonly streamsMax?: number
}

export interface StreamRequest {
  readonly principal: Principal
  readonly response: ServerResponse
  /** Whether it is a `HEAD`, whose answer has no body. */
  readonly isHead: boolean
  /** Whether the principal may still read. A rejection leaves the stream open: nobody knows. */
  isStillAllowed(): Promise<boolean>
}

/**
 * The streams of events of open pages. Owns their answers, a timer for each, and the watch; `close` waits for what that is
 * reading, and not for clients to have read the end.
 *
 *     open → ended: by the client, a slow reader, a right that is gone, or `close`
 */
export class EventStreams {
  readonly #clock: Clock
  readonly #places: FairPlaces<keyof typeof SHARES>
  readonly #watch: TeamWatch
  readonly #streams = new Set<ServerResponse>()
  #isClosed = false

  constructor({ streamsMax = STREAMS_MAX, ...parts }: EventStreamsParts) {
    this.#clock = parts.clock
    this.#places = new FairPlaces({ places: streamsMax, shares: SHARES })
    this.#watch = new TeamWatch(parts)
  }

  /** Answers with a stream; 429 when the team or the subject has its share, 503 when nobody can have another. */
  open(request: StreamRequest): void {
    const { principal, response, isHead } = request
    if (response.destroyed) return
    if (this.#isClosed) return answerRetryLater(response, 503, ALL_TAKEN)
    const place = this.#places.take({ team: principal.team, subject: subjectOf(principal) })
    if (place.kind === 'full') return answerRetryLater(response, 503, ALL_TAKEN)
    if (place.kind === 'over') return answerRetryLater(response, 429, SHARE_TAKEN[place.holder])
    response.once('close', place.leave)
    response.writeHead(200, HEADERS)
    if (isHead) response.end()
    else this.#stream(request)
  }

  /** Ends all streams; their pages go to another process, or come again. No other is opened. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const response of this.#streams) response.end()
    await this.#watch.close()
  }

  #stream(request: StreamRequest): void {
    const { principal, response } = request
    this.#streams.add(response)
    response.write(OPENING)
    const unwatch = this.#watch.watch(principal.team, (text) => send(response, text))
    const stopBeating = this.#beat(request)
    response.once('close', () => {
      stopBeating()
      unwatch()
      this.#streams.delete(response)
    })
  }

  #beat({ response, isStillAllowed }: StreamRequest): () => void {
    let beats = 0
    let cancel = (): void => undefined
    const schedule = (): void => {
      cancel = this.#clock.after(HEARTBEAT_MS, () => {
        beats += 1
        // Of a client that reads nothing more: it would hold its place until its connection ends.
        if (response.writableEnded) response.destroy()
        send(response, HEARTBEAT)
        if (beats % BEATS_PER_CHECK === 0) {
          isStillAllowed().then(
            (isAllowed) => isAllowed || response.end(),
            () => undefined,
          )
        }
        schedule()
      })
    }
    schedule()
    return () => cancel()
  }
}

function send(response: ServerResponse, text: string): void {
  if (response.writableEnded || response.destroyed) return
  if (response.writableLength > WAITING_BYTES_MAX) response.destroy()
  else response.write(text)
}

/**
 * A user is the same one in every team: otherwise, who may read in many of them would get a share in each. Tokens that share
 * a rate limit are one, too.
 */
function subjectOf({ kind, team, subject, rates = [] }: Principal): string {
  return kind === 'token' ? `token ${team}/${rates[0]?.name ?? subject}` : `user ${subject}`
}
