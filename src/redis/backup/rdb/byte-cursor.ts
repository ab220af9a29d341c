import { BackupError } from '../../../domain/errors.ts'

/** The longest text that Redis stores; what claims to be longer is damaged. */
export const STRING_BYTES_MAX = 512 * 1024 ** 2

/** Thrown where the bytes at hand end before what is read does: more must come. One object, as it is thrown often. */
export const SHORT = new Error('more bytes are needed')

/** How a text is stored where it is not as it is. */
const ENCODED_INT8 = 0
const ENCODED_INT16 = 1
const ENCODED_INT32 = 2
const ENCODED_LZF = 3

/** Reads the pieces that files of Redis are made of, from bytes at hand. Each method throws SHORT where they end. */
export class ByteCursor {
  readonly bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  byte(): number {
    const { at } = this
    if (at >= this.bytes.length) throw SHORT
    this.at = at + 1
    return this.bytes[at]!
  }

  skip(count: number): void {
    if (count > this.bytes.length - this.at) throw SHORT
    this.at += count
  }

  take(count: number): Buffer {
    const from = this.at
    this.skip(count)
    return this.bytes.subarray(from, this.at)
  }

  /** A count or a length. Numbers beyond what a number holds are damage here. */
  length(): number {
    const { kind, value } = this.#lengthOrEncoding()
    if (kind === 'encoding') throw new BackupError('A length is not valid.')
    if (value > Number.MAX_SAFE_INTEGER) throw new BackupError('A length is absurd.')
    return value
  }

  /** A number that may take all of 64 bits, such as the part of an id. */
  skipNumber(): void {
    if (this.#lengthOrEncoding().kind === 'encoding') throw new BackupError('A number is not valid.')
  }

  skipString(): void {
    const { kind, value } = this.#lengthOrEncoding()
    if (kind === 'length') this.skip(bounded(value))
    else if (value === ENCODED_LZF) {
      const compressed = bounded(this.length())
      bounded(this.length())
      this.skip(compressed)
    } else this.skip(integerBytes(value))
  }

  /** The text itself; where it is not packed, as a part of the bytes at hand. */
  string(): Buffer {
    const { kind, value } = this.#lengthOrEncoding()
    if (kind === 'length') return this.take(bounded(value))
    if (value === ENCODED_LZF) {
      const compressed = bounded(this.length())
      const plain = bounded(this.length())
      return unpacked(this.take(compressed), plain)
    }
    const width = integerBytes(value)
    return Buffer.from(String(this.take(width).readIntLE(0, width)))
  }

  #lengthOrEncoding(): { readonly kind: 'length' | 'encoding'; readonly value: number } {
    const first = this.byte()
    const low = first & 0x3f
    switch (first >> 6) {
      case 0:
        return { kind: 'length', value: low }
      case 1:
        return { kind: 'length', value: (low << 8) | this.byte() }
      case 2:
        if (first === 0x80) return { kind: 'length', value: this.take(4).readUInt32BE(0) }
        if (first === 0x81) return { kind: 'length', value: Number(this.take(8).readBigUInt64BE(0)) }
        throw new BackupError('A length has an unknown form.')
      default:
        return { kind: 'encoding', value: low }
    }
  }
}

function bounded(length: number): number {
  if (length <= STRING_BYTES_MAX) return length
  throw new BackupError(`A text claims to have ${length} bytes.`)
}

function integerBytes(encoding: number): number {
  if (encoding === ENCODED_INT8) return 1
  if (encoding === ENCODED_INT16) return 2
  if (encoding === ENCODED_INT32) return 4
  throw new BackupError('A text has an unknown form.')
}

/** The text that LZF packed: runs of bytes as they are, and copies of what stands before. */
function unpacked(packed: Buffer, length: number): Buffer {
  // A byte stands for 264 at most: so little is never allocated for what cannot be.
  if (length > packed.length * 264) throw new BackupError('A packed text is damaged.')
  const plain = Buffer.alloc(length)
  let at = 0
  let to = 0
  while (at < packed.length) {
    const control = packed[at]!
    at += 1
    if (control < 32) {
      const end = at + control + 1
      if (end > packed.length || to + control + 1 > length) throw new BackupError('A packed text is damaged.')
      packed.copy(plain, to, at, end)
      to += control + 1
      at = end
      continue
    }
    let count = control >> 5
    if (count === 7) {
      count += packed[at] ?? 0
      at += 1
    }
    let from = to - ((control & 0x1f) << 8) - (packed[at] ?? 0) - 1
    at += 1
    if (from < 0 || at > packed.length || to + count + 2 > length) {
      throw new BackupError('A packed text is damaged.')
    }
    for (const end = to + count + 2; to < end; to += 1, from += 1) plain[to] = plain[from]!
  }
  if (to !== length) throw new BackupError('A packed text is damaged.')
  return plain
}
