import type { QueryClient } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { BASE, requestHeaders } from '../session/client.ts'
import { createEventParser, type ServerEvent } from './event-parser.ts'
import { createHints, HINT_KINDS, isLive } from './hints.ts'

/**
 * opening: nothing is known yet · live: the server says what changes · polling: it does not, and what is shown is read again
 * every few seconds · away: it says that its store does not answer · paused: the viewer wants what is shown to stay
 */
export type LiveState = 'opening' | 'live' | 'polling' | 'away' | 'paused'

/** Figures of the whole team at this moment. */
export interface LiveFigures {
  readonly pending: number
  readonly in_flight: number
  /** Ready jobs that only wait for a slot of an executor, and the others, as counted within the last minute. */
  readonly startable: number
  readonly stopped: number
  readonly oldest_startable_seconds: number | null
  /** The queue of that job; null = the run of a cron. */
  readonly oldest_queue: { readonly queue_id: number; readonly name: string } | null
  readonly unread_alerts: number
}

interface Live {
  readonly state: LiveState
  /** null = not known now. */
  readonly figures: LiveFigures | null
}

/** The server sends something every 15 s. */
const SILENT_MS = 40_000
const RETRY_MS = 3_000
const RETRY_MAX_MS = 60_000
/** Many browsers allow six connections to a server for all tabs: one that is not looked at gives its own back. */
const HIDDEN_MS = 5_000

let live: Live = { state: 'opening', figures: null }
const listeners = new Set<() => void>()

function setLive(next: Partial<Live>): void {
  live = { ...live, ...next }
  for (const listener of listeners) listener()
}

export function liveState(): LiveState {
  return live.state
}

export function useLiveState(): LiveState {
  return useLivePart(({ state }) => state)
}

export function useLiveFigures(): LiveFigures | null {
  return useLivePart(({ figures }) => figures)
}

function useLivePart<Part>(partOf: (whole: Live) => Part): Part {
  const [part, setPart] = useState(() => partOf(live))
  useEffect(() => {
    const listener = (): void => setPart(() => partOf(live))
    listener()
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
  return part
}

let isPaused = false
let wake = (): void => undefined

/** After a pause everything is read again. */
export function setPaused(next: boolean, queries: QueryClient): void {
  isPaused = next
  setLive(next ? { state: 'paused', figures: null } : { state: 'opening' })
  if (!next) void queries.invalidateQueries()
  wake()
}

/** Follows the events of the server while the page is visible and not paused. @returns ends that */
export function followEvents(queries: QueryClient): () => void {
  const follower = new Follower(queries)
  wake = () => follower.settle()
  const onVisibility = (): void => follower.settle()
  document.addEventListener('visibilitychange', onVisibility)
  follower.settle()
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    wake = () => undefined
    follower.end()
  }
}

/** Owns one stream, or the timer until the next one. */
class Follower {
  readonly #queries: QueryClient
  readonly #onHint: (kinds: readonly string[]) => void
  #stream: AbortController | null = null
  #timer = 0
  #failures = 0
  #isToldAll = false

  constructor(queries: QueryClient) {
    this.#queries = queries
    this.#onHint = createHints(queries, () => isPaused)
  }

  /** Opens or closes the stream, as is wanted now. */
  settle(): void {
    window.clearTimeout(this.#timer)
    if (isPaused) this.#close()
    else if (document.hidden) this.#timer = window.setTimeout(() => this.#close(), HIDDEN_MS)
    else if (this.#stream === null) void this.#open()
  }

  end(): void {
    window.clearTimeout(this.#timer)
    this.#close()
  }

  #close(): void {
    this.#stream?.abort()
    this.#stream = null
  }

  async #open(): Promise<void> {
    const stream = new AbortController()
    this.#stream = stream
    this.#isToldAll = false
    try {
      await readEvents(stream, (event) => this.#onEvent(event))
    } catch {
      // Whatever it was, the reads of the page meet it as well, and say it.
    }
    if (this.#stream !== stream) return
    this.#stream = null
    // What is read now also finds out whether the session has ended.
    if (live.state !== 'polling') {
      void this.#queries.invalidateQueries({ predicate: isLive }, { cancelRefetch: false })
    }
    setLive({ state: 'polling', figures: null })
    const waitMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** this.#failures)
    this.#failures += 1
    // Pages that lost their server together must not come back together.
    this.#timer = window.setTimeout(() => this.settle(), waitMs * (0.5 + Math.random()))
  }

  #onEvent({ name, data }: ServerEvent): void {
    this.#failures = 0
    if (name === 'figures') {
      setLive({ state: 'live', figures: JSON.parse(data) as LiveFigures })
      // The first ones of a stream: what changed before them, since it was read here, is told to nobody.
      if (!this.#isToldAll) this.#onHint(HINT_KINDS)
      this.#isToldAll = true
    } else if (name === 'away') setLive({ state: 'away', figures: null })
    else if (name === 'changed') this.#onHint((JSON.parse(data) as { kinds: string[] }).kinds)
  }
}

/** Resolves when the server ends the stream. */
async function readEvents(stream: AbortController, onEvent: (event: ServerEvent) => void): Promise<void> {
  const headers = { ...requestHeaders(), accept: 'text/event-stream' }
  const response = await fetch(`${BASE}/api/events`, { headers, cache: 'no-store', signal: stream.signal })
  const reader = response.ok ? response.body?.getReader() : undefined
  if (reader === undefined) throw new Error(`the stream of events answered ${response.status}`)
  const decoder = new TextDecoder()
  const parse = createEventParser(onEvent)
  let silence = 0
  try {
    for (;;) {
      silence = window.setTimeout(() => stream.abort(), SILENT_MS)
      const { done, value } = await reader.read()
      window.clearTimeout(silence)
      if (done) return
      parse(decoder.decode(value, { stream: true }))
    }
  } finally {
    window.clearTimeout(silence)
  }
}
