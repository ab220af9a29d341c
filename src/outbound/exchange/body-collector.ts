/** Keeps the first bytes of a response body, and no more memory than that, however large or small the chunks are. */
export interface BodyCollector {
  add(chunk: Uint8Array): void
  /** All bytes that came, kept or not. */
  received(): number
  /** The kept bytes. */
  body(): Uint8Array
}

/** @param keptMax bytes to keep */
export function createBodyCollector(keptMax: number): BodyCollector {
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
      // The first chunk is most often the whole body, and a view of it costs no copy. But a view keeps alive all that
      // the socket read at once, up to 64 KiB.
      if (length === 0 && part.buffer.byteLength <= keptMax) kept = part
      else append(part)
      length += part.length
    },
    received: () => received,
    body: () => kept.subarray(0, length),
  }
}
