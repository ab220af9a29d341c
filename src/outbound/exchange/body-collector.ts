const NOTHING = new Uint8Array(0)

/** Keeps the first `keptMax` bytes of a response body, in no more memory than that, whatever the size of the chunks. */
export class BodyCollector {
  readonly #keptMax: number
  #kept: Uint8Array = NOTHING
  #length = 0
  #received = 0

  constructor(keptMax: number) {
    this.#keptMax = keptMax
  }

  /** Bytes received, kept or not. */
  get received(): number {
    return this.#received
  }

  /** The kept bytes. */
  get body(): Uint8Array {
    return this.#kept.subarray(0, this.#length)
  }

  add(chunk: Uint8Array): void {
    this.#received += chunk.length
    const room = this.#keptMax - this.#length
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk
    if (part.length === 0) return
    // The first chunk is usually the whole body, and a view of it costs no copy. But a view keeps everything alive that
    // the socket read with it, up to 64 KiB.
    if (this.#length === 0 && part.buffer.byteLength <= this.#keptMax) this.#kept = part
    else this.#append(part)
    this.#length += part.length
  }

  #append(part: Uint8Array): void {
    const needed = this.#length + part.length
    if (this.#kept.length < needed) {
      const size = Math.min(this.#keptMax, Math.max(needed, this.#length * 2))
      const larger = Buffer.allocUnsafeSlow(size)
      larger.set(this.body)
      this.#kept = larger
    }
    this.#kept.set(part, this.#length)
  }
}
