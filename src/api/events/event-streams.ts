import type { ServerResponse } from 'node:http'
import type { Principal } from '../../domain/access/principal.ts'
import type { Clock } from '../../ports/runtime.ts'
import { answerRetryLater } from '../answers.ts'
import { HEARTBEAT, OPENING } from './event-text.ts'
import { TeamWatch, type TeamWatchParts } from './team-watch.ts'

/** Of all subjects, in one process. */
export const STREAMS_MAX = 1_000
/** Of one token or user, which on one machine all people may share; but no more than a quarter of all streams. */
export const STREAMS_PER_SUBJECT_MAX = 250
const SUBJECT_SHARE = 0.25
const HEARTBEAT_MS = 15_000
/** After so many heartbeats it is asked whether the subject still may read. */
const BEATS_PER_CHECK = 4
/** Of a reader that does not keep up. What it missed it learns by coming again. */
const WAITING_BYTES_MAX = 64 * 1024
const HEADERS = [
  ...['Content-Type', 'text/event-stream; charset=utf-8'],
  ...['X-Content-Type-Options', 'nosniff'],
  // No proxy may gather or change what comes in pieces.
  ...['Cache-Control', 'no-cache, no-transform'],
  ...['X-Accel-Buffering', 'no'],
]

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
  readonly #streamsMax: number
  readonly #perSubjectMax: number
  readonly #watch: TeamWatch
  readonly #streams = new Set<ServerResponse>()
  readonly #bySubject = new Map<string, number>()
  #isClosed = false

  constructor({ streamsMax = STREAMS_MAX, ...parts }: EventStreamsParts) {
    this.#clock = parts.clock
    this.#streamsMax = streamsMax
    this.#perSubjectMax = Math.max(
      1,
      Math.min(STREAMS_PER_SUBJECT_MAX, Math.floor(streamsMax * SUBJECT_SHARE)),
    )
    this.#watch = new TeamWatch(parts)
  }

  /** Answers with a stream; 429 or 503 when there are too many. */
  open(request: StreamRequest): void {
    const { principal, response, isHead } = request
    if (this.#isClosed || this.#streams.size >= this.#streamsMax) {
      return answerRetryLater(response, 503, 'No more streams of events can be opened here, try again')
    }
    const subject = `${principal.kind} ${principal.team}/${principal.subject}`
    const open = this.#bySubject.get(subject) ?? 0
    if (open >= this.#perSubjectMax) {
      return answerRetryLater(response, 429, `There are ${open} streams of events open already`)
    }
    if (response.destroyed) return
    response.writeHead(200, HEADERS)
    if (isHead) {
      response.end()
      return
    }
    this.#bySubject.set(subject, open + 1)
    this.#streams.add(response)
    response.write(OPENING)
    const unwatch = this.#watch.watch(principal.team, (text) => send(response, text))
    const stopBeating = this.#beat(request)
    response.once('close', () => {
      stopBeating()
      unwatch()
      this.#streams.delete(response)
      const left = (this.#bySubject.get(subject) ?? 1) - 1
      if (left === 0) this.#bySubject.delete(subject)
      else this.#bySubject.set(subject, left)
    })
  }

  /** Ends all streams; their pages go to another process, or come again. No other is opened. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const response of this.#streams) response.end()
    await this.#watch.close()
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
