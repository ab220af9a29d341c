import type { Clock } from '../ports/runtime.ts'

/** One look at all bodies a second: a timer for each request would cost every push. */
const LOOK_MS = 1_000
/** A body of which nothing has come for this many looks in a row is given up. */
const QUIET_LOOKS_MAX = 5
/** From the look after these on, a body must have come at the least rate: a byte now and then is no progress. */
const LOOKS_BEFORE_RATE = 5
/** A whole body of the largest size in the time that the server gives a request. */
const BYTES_PER_LOOK_MIN = 32 * 1024

export interface WatchedBody {
  /** Whoever reads the body counts here. */
  receivedBytes: number
  onStalled(): void
}

/** Gives up bodies that no longer come, or too slowly. Looks at nothing, and has no timer, while no body is under way. */
export interface BodyWatch {
  add(body: WatchedBody): void
  remove(body: WatchedBody): void
}

interface Progress {
  looks: number
  quietLooks: number
  seenBytes: number
}

export function createBodyWatch(clock: Clock): BodyWatch {
  /** null until it is looked at: most bodies are there before. */
  const watched = new Map<WatchedBody, Progress | null>()
  let isLooking = false

  const look = (): void => {
    for (const [body, known] of watched) {
      const progress = known ?? { looks: 0, quietLooks: 0, seenBytes: 0 }
      watched.set(body, progress)
      if (isStalled(body, progress)) {
        watched.delete(body)
        body.onStalled()
      }
    }
    isLooking = watched.size > 0
    if (isLooking) clock.after(LOOK_MS, look)
  }

  return {
    add: (body) => {
      watched.set(body, null)
      if (isLooking) return
      isLooking = true
      clock.after(LOOK_MS, look)
    },
    remove: (body) => void watched.delete(body),
  }
}

/** Counts looks and no time: while this process stands still, no client is to blame. */
function isStalled(body: WatchedBody, progress: Progress): boolean {
  progress.looks += 1
  progress.quietLooks = body.receivedBytes === progress.seenBytes ? progress.quietLooks + 1 : 0
  progress.seenBytes = body.receivedBytes
  if (progress.quietLooks >= QUIET_LOOKS_MAX) return true
  return body.receivedBytes < (progress.looks - LOOKS_BEFORE_RATE) * BYTES_PER_LOOK_MIN
}
