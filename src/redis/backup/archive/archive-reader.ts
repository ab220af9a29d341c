import { createHash } from 'node:crypto'
import { BackupError } from '../../../domain/errors.ts'
import {
  END,
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  headerOf,
  HEADER_BYTES_MAX,
  SUM_BYTES,
  type ArchiveEnd,
  type ArchiveHeader,
} from './archive-form.ts'

/** A frame of an archive. */
export interface ArchiveFrame {
  /** Place of the primary in the header. */
  readonly primary: number
  readonly bytes: Buffer
}

/** Reads an archive as it comes. Owns its sum and the bytes at hand: a frame and what the source gave with it. */
export class ArchiveReader {
  readonly #source: AsyncIterator<Buffer>
  readonly #sum = createHash('sha256')
  readonly #nowMs: number
  #held: Buffer = Buffer.alloc(0)
  #primaries = 0

  /** @param nowMs what the date of the archive is compared with */
  constructor(source: AsyncIterable<Buffer>, nowMs: number) {
    this.#nowMs = nowMs
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Comes first. @throws BackupError */
  async header(): Promise<ArchiveHeader> {
    let at = this.#held.indexOf('\n')
    while (at === -1 && this.#held.length < HEADER_BYTES_MAX && (await this.#more())) {
      at = this.#held.indexOf('\n')
    }
    if (at === -1) throw new BackupError('This is not a backup of Punctual.')
    const header = headerOf(this.#take(at + 1).toString(), this.#nowMs)
    this.#primaries = header.primaries.length
    return header
  }

  /** Answers the frames, and in the end what the archive says of itself. @throws BackupError when it is not whole */
  async *frames(): AsyncGenerator<ArchiveFrame, ArchiveEnd, void> {
    const bytesOf = Array.from({ length: this.#primaries }, () => 0)
    for (;;) {
      const head = await this.#read(FRAME_HEAD_BYTES)
      const primary = head.readUInt8(0)
      const length = head.readUInt32BE(1)
      if (length > FRAME_BYTES_MAX || (primary !== END && primary >= this.#primaries)) {
        throw new BackupError('The backup is damaged: a frame is not valid.')
      }
      const bytes = await this.#read(length)
      if (primary === END) return await this.#readEnd(bytes, bytesOf)
      bytesOf[primary]! += length
      yield { primary, bytes }
    }
  }

  async #readEnd(bytes: Buffer, found: readonly number[]): Promise<ArchiveEnd> {
    const sum = this.#sum.digest()
    if (!(await this.#readUncounted(SUM_BYTES)).equals(sum)) {
      throw new BackupError('The backup is damaged: its checksum is wrong.')
    }
    if (this.#held.length > 0 || (await this.#more())) {
      throw new BackupError('The backup is damaged: something follows its end.')
    }
    const end = JSON.parse(bytes.toString()) as ArchiveEnd
    if (String(end.bytes) !== String(found))
      throw new BackupError('The backup is damaged: a part is missing.')
    return end
  }

  async #read(length: number): Promise<Buffer> {
    await this.#until(length)
    return this.#take(length)
  }

  async #readUncounted(length: number): Promise<Buffer> {
    await this.#until(length)
    const taken = this.#held.subarray(0, length)
    this.#held = this.#held.subarray(length)
    return taken
  }

  #take(length: number): Buffer {
    const taken = this.#held.subarray(0, length)
    this.#held = this.#held.subarray(length)
    this.#sum.update(taken)
    return taken
  }

  async #until(length: number): Promise<void> {
    while (this.#held.length < length) {
      if (!(await this.#more())) {
        throw new BackupError(
          'The backup is not complete: it ends too early. It was broken off, or cut when it was copied.',
        )
      }
    }
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#source.next()
    if (done === true) return false
    this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value])
    return true
  }
}
