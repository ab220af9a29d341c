/** Keeps the first bytes of a response body in few buffers, however small the chunks are. */
export interface BodyCollector {
  add(chunk: Uint8Array): void
  /** All bytes that came, kept or not. */
  received(): number
  /** The kept bytes. */
  body(): Uint8Array
}

/** @param keptMax bytes to keep */
export function createBodyCollector(keptMax: number): BodyCollector {
  // The first chunk is most often the whole body, so it is copied only once there is a second.
  let kept: Uint8Array = new Uint8Array(0)
  let length = 0
  let received = 0

  function append(part: Uint8Array): void {
    if (kept.length < length + part.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(keptMax, Math.max(length + part.length, length * 2)))
      larger.set(kept.subarray(0, length))
      kept = larger
    }
    kept.set(part, length)
  }

  return {
    add: (chunk) => {
      received += chunk.length
      const part = chunk.length > keptMax - length ? chunk.subarray(0, keptMax - length) : chunk
      if (part.length === 0) return
      if (length === 0) kept = part
      else append(part)
      length += part.length
    },
    received: () => received,
    body: () => kept.subarray(0, length),
  }
}
