/** The polynomial of Jones, reflected: what Redis writes behind its files and behind what DUMP answers. */
const POLYNOMIAL = { high: 0x95ac9329, low: 0xac4bc9b5 }
/** Bytes that one round takes, each by a table of its own. */
const WIDTH = 8
export const CRC_BYTES = 8

interface Tables {
  readonly low: Uint32Array
  readonly high: Uint32Array
}

let made: Tables | null = null

/** The CRC-64 of Redis over bytes that come piece by piece. */
export class Crc64 {
  readonly #tables = (made ??= makeTables())
  #low = 0
  #high = 0

  update(bytes: Uint8Array): this {
    const { low: lows, high: highs } = this.#tables
    const { length } = bytes
    let low = this.#low
    let high = this.#high
    let at = 0
    for (const end = length - (length % WIDTH); at < end; at += WIDTH) {
      low ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
      high ^= bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24)
      const a = 1792 + (low & 0xff)
      const b = 1536 + ((low >>> 8) & 0xff)
      const c = 1280 + ((low >>> 16) & 0xff)
      const d = 1024 + (low >>> 24)
      const e = 768 + (high & 0xff)
      const f = 512 + ((high >>> 8) & 0xff)
      const g = 256 + ((high >>> 16) & 0xff)
      const h = high >>> 24
      low = lows[a]! ^ lows[b]! ^ lows[c]! ^ lows[d]! ^ lows[e]! ^ lows[f]! ^ lows[g]! ^ lows[h]!
      high = highs[a]! ^ highs[b]! ^ highs[c]! ^ highs[d]! ^ highs[e]! ^ highs[f]! ^ highs[g]! ^ highs[h]!
    }
    for (; at < length; at += 1) {
      const index = (low ^ bytes[at]!) & 0xff
      low = ((low >>> 8) | (high << 24)) ^ lows[index]!
      high = (high >>> 8) ^ highs[index]!
    }
    this.#low = low
    this.#high = high
    return this
  }

  /** Little-endian, as it lies in files. */
  digest(): Buffer {
    const bytes = Buffer.alloc(CRC_BYTES)
    bytes.writeInt32LE(this.#low | 0, 0)
    bytes.writeInt32LE(this.#high | 0, 4)
    return bytes
  }
}

/** Table `n` holds what a byte comes to that has `n` others behind it. */
function makeTables(): Tables {
  const low = new Uint32Array(256 * WIDTH)
  const high = new Uint32Array(256 * WIDTH)
  for (let byte = 0; byte < 256; byte += 1) {
    let l = byte
    let h = 0
    for (let bit = 0; bit < 8; bit += 1) {
      const isOdd = (l & 1) === 1
      l = (l >>> 1) | (h << 31)
      h >>>= 1
      if (isOdd) {
        l ^= POLYNOMIAL.low
        h ^= POLYNOMIAL.high
      }
    }
    low[byte] = l
    high[byte] = h
  }
  for (let at = 256; at < low.length; at += 1) {
    const l = low[at - 256]!
    const h = high[at - 256]!
    const index = l & 0xff
    low[at] = ((l >>> 8) | (h << 24)) ^ low[index]!
    high[at] = (h >>> 8) ^ high[index]!
  }
  return { low, high }
}
