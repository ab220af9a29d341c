import { createHash } from 'node:crypto'
import { createMutex } from '../../../domain/mutex.ts'
import {
  END,
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  lineOf,
  type ArchiveEnd,
  type ArchiveHeader,
} from './archive-form.ts'

/** Where an archive goes: a file, or standard output. */
export interface ByteSink {
  /** Resolves when more may be written. */
  write(bytes: Buffer): Promise<void>
}

/** Writes an archive. Owns its sum, and the order of what several primaries send at once. */
export class ArchiveWriter {
  readonly #sink: ByteSink
  readonly #sum = createHash('sha256')
  /** What waits behind a write that failed fails as well. */
  readonly #inTurn = createMutex(() => true)
  readonly #bytes: number[]

  constructor(sink: ByteSink, primaries: number) {
    this.#sink = sink
    this.#bytes = Array.from({ length: primaries }, () => 0)
  }

  begin(header: ArchiveHeader): Promise<void> {
    return this.#inTurn(() => this.#write(Buffer.from(lineOf(header))))
  }

  /** @param primary its place in the header */
  async append(primary: number, bytes: Buffer): Promise<void> {
    this.#bytes[primary]! += bytes.length
    for (let at = 0; at < bytes.length; at += FRAME_BYTES_MAX) {
      const part = bytes.subarray(at, at + FRAME_BYTES_MAX)
      await this.#inTurn(() => this.#writeFrame(primary, part))
    }
  }

  async end(said: Omit<ArchiveEnd, 'bytes'>): Promise<void> {
    const end: ArchiveEnd = { ...said, bytes: this.#bytes }
    await this.#inTurn(() => this.#writeFrame(END, Buffer.from(JSON.stringify(end))))
    await this.#inTurn(() => this.#sink.write(this.#sum.digest()))
  }

  async #writeFrame(number: number, bytes: Buffer): Promise<void> {
    const head = Buffer.alloc(FRAME_HEAD_BYTES)
    head.writeUInt8(number, 0)
    head.writeUInt32BE(bytes.length, 1)
    await this.#write(head)
    await this.#write(bytes)
  }

  #write(bytes: Buffer): Promise<void> {
    this.#sum.update(bytes)
    return this.#sink.write(bytes)
  }
}
