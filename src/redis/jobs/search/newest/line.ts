import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { EndedStream } from './ended-stream.ts'

/** What queues are ordered by among those with the same end. */
export interface QueueOrder {
  readonly shard: number
  readonly localId: number
}

/** The streams with something left, the one with the newest end first. */
export class Line {
  #streams: EndedStream[]

  constructor(streams: readonly EndedStream[]) {
    this.#streams = [...streams]
    this.sort()
  }

  get first(): EndedStream | undefined {
    return this.#streams[0]
  }

  next(count: number): EndedStream[] {
    return this.#streams.slice(0, count)
  }

  sort(): void {
    const ends = new Map(this.#streams.map((stream) => [stream, stream.endMs]))
    this.#streams = this.#streams
      .filter((stream) => ends.get(stream) !== null)
      .toSorted((a, b) => (ends.get(b) ?? 0) - (ends.get(a) ?? 0) || compareStreams(a, b))
  }

  /** Puts the first stream where it belongs now. */
  moveFirst(): void {
    const [first, ...others] = this.#streams
    if (first === undefined) return
    const endMs = first.endMs
    if (endMs === null) {
      this.#streams = others
      return
    }
    const isBehind = (other: EndedStream) =>
      (other.endMs ?? 0) < endMs || (other.endMs === endMs && compareStreams(first, other) < 0)
    const at = others.findIndex(isBehind)
    others.splice(at === -1 ? others.length : at, 0, first)
    this.#streams = others
  }
}

/** Queues come by shard and id, and the dead letters of a queue before its finished chains. */
function compareStreams(a: EndedStream, b: EndedStream): number {
  return compareQueues(orderOf(a.queue), orderOf(b.queue)) || a.section.localeCompare(b.section)
}

export function compareQueues(a: QueueOrder, b: QueueOrder): number {
  return a.shard - b.shard || a.localId - b.localId
}

export function orderOf({ keys, localId }: KnownQueue): QueueOrder {
  return { shard: keys.shard, localId: Number(localId) }
}
