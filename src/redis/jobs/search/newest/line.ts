import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { EndedStream } from './ended-stream.ts'
import { signOf } from './time-order.ts'

/** What queues are ordered by among those with the same end. */
export interface QueueOrder {
  readonly shard: number
  readonly localId: number
}

/** The streams with something left, the one with the newest end first, or the one with the oldest. */
export class Line {
  #streams: EndedStream[]

  constructor(streams: readonly EndedStream[]) {
    this.#streams = [...streams]
    this.sort()
  }

  get first(): EndedStream | undefined {
    return this.#streams[0]
  }

  get length(): number {
    return this.#streams.length
  }

  next(count: number): EndedStream[] {
    return this.#streams.slice(0, count)
  }

  /** The end of the stream at this place, in Unix ms; null = there is none. */
  endAt(place: number): number | null {
    return this.#streams[place]?.endMs ?? null
  }

  sort(): void {
    this.#streams = this.#streams.filter(({ endMs }) => endMs !== null).toSorted(compareEnds)
  }

  /** Puts the first stream where it belongs now. */
  moveFirst(): void {
    const [first] = this.#streams.splice(0, 1)
    if (first === undefined || first.endMs === null) return
    let [from, to] = [0, this.#streams.length]
    while (from < to) {
      const half = (from + to) >> 1
      const other = this.#streams[half]
      if (other !== undefined && compareEnds(other, first) < 0) from = half + 1
      else to = half
    }
    this.#streams.splice(from, 0, first)
  }
}

/** Queues come by shard and id, and the dead letters of a queue before its finished chains. */
function compareEnds(a: EndedStream, b: EndedStream): number {
  return (
    signOf(a.order) * ((b.endMs ?? 0) - (a.endMs ?? 0)) ||
    compareQueues(orderOf(a.queue), orderOf(b.queue)) ||
    a.section.localeCompare(b.section)
  )
}

export function compareQueues(a: QueueOrder, b: QueueOrder): number {
  return a.shard - b.shard || a.localId - b.localId
}

export function orderOf({ keys, localId }: KnownQueue): QueueOrder {
  return { shard: keys.shard, localId: Number(localId) }
}
