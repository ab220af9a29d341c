import { BackupError } from '../../../domain/errors.ts'
import { ByteCursor, SHORT, STRING_BYTES_MAX } from './byte-cursor.ts'
import { Crc64, CRC_BYTES } from './crc64.ts'
import { elementOf, skipModule, skipValue } from './value-shapes.ts'

/** What stands between values. */
const OPCODE = {
  slotInfo: 244,
  functions: 245,
  moduleData: 247,
  idle: 248,
  frequency: 249,
  facts: 250,
  sizes: 251,
  expiryMs: 252,
  expirySeconds: 253,
  database: 254,
  end: 255,
} as const
/** `REDIS0011`; a Valkey since 9 writes its own name. */
const MAGIC = /^(?:REDIS|VALKEY)([0-9]{3,4})$/
const MAGIC_BYTES = 9
/** A value with more bytes comes in pieces, if it has elements. */
const PIECE_BYTES = 4 * 1024 ** 2
/** Of a value that is one piece; Redis takes no larger one in a command. */
const VALUE_BYTES_MAX = STRING_BYTES_MAX
/** Of a key in a message. */
const SHOWN_KEY_BYTES = 200
/** Room for what stands around such a value. */
const HELD_BYTES_MAX = VALUE_BYTES_MAX + 64 * 1024

/** A key with its value, or with a part of it. */
export interface RdbValue {
  readonly database: number
  readonly key: Buffer
  readonly type: number
  /** When it expires, Unix ms; null = never. */
  readonly expiresMs: number | null
  readonly isFirst: boolean
  readonly isLast: boolean
  /** Of a whole value all behind the key, exactly as it was; of a part its elements. */
  readonly bytes: Buffer
}

/** A value whose elements come in pieces. */
interface Opened extends Pick<RdbValue, 'database' | 'key' | 'type' | 'expiresMs'> {
  left: number
  isFirst: boolean
  readonly skip: (cursor: ByteCursor) => void
}

/**
 * Reads a file of Redis (RDB) as its bytes come. Owns the bytes that are not read yet: at most one value, and of a large
 * one with elements a piece.
 *
 *     head → values (perhaps within one) → sum → over
 */
export class RdbReader {
  readonly #crc = new Crc64()
  #state: 'head' | 'values' | 'sum' | 'over' = 'head'
  #held: Buffer[] = []
  #heldBytes = 0
  /** With less it is not tried again, so that a value is gone over a few times only. */
  #wantedBytes = 0
  #opened: Opened | null = null
  #database = 0
  #expiresMs: number | null = null
  #version = 0

  /** Of the form of its values; known once there is a value. */
  get version(): number {
    return this.#version
  }

  /** Answers what is complete by now; the values must be taken before more is pushed. @throws BackupError */
  *push(chunk: Buffer): Generator<RdbValue, void, void> {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes >= this.#wantedBytes) yield* this.#read()
  }

  /** Answers the last values. @throws BackupError when the file is not complete */
  *end(): Generator<RdbValue, void, void> {
    yield* this.#read()
    if (this.#state !== 'over') throw new BackupError('It ends too early.')
  }

  *#read(): Generator<RdbValue, void, void> {
    const cursor = new ByteCursor(this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held))
    let from = 0
    while (cursor.at < cursor.bytes.length) {
      let value: RdbValue | null
      try {
        value = this.#next(cursor)
      } catch (error) {
        if (error !== SHORT) throw error
        break
      }
      if (this.#state !== 'over') this.#crc.update(cursor.bytes.subarray(from, cursor.at))
      from = cursor.at
      if (value !== null) yield value
    }
    const rest = cursor.bytes.subarray(from)
    if (rest.length > HELD_BYTES_MAX) {
      throw new BackupError(
        `A value has more than ${VALUE_BYTES_MAX} bytes, which no command of Redis takes.`,
      )
    }
    this.#held = rest.length === 0 ? [] : [rest]
    this.#heldBytes = rest.length
    this.#wantedBytes = rest.length * 2
  }

  /** Reads the next thing; null = it is no value. Until it is read, nothing is changed. */
  #next(cursor: ByteCursor): RdbValue | null {
    switch (this.#state) {
      case 'head':
        return this.#readHead(cursor)
      case 'values':
        return this.#opened === null ? this.#readValue(cursor) : this.#readElements(cursor, this.#opened)
      case 'sum':
        return this.#readSum(cursor)
      case 'over':
        throw new BackupError('Something follows its end.')
    }
  }

  #readHead(cursor: ByteCursor): null {
    const [, version] = MAGIC.exec(cursor.take(MAGIC_BYTES).toString('latin1')) ?? []
    if (version === undefined) throw new BackupError('It does not begin like data of Redis.')
    this.#version = Number(version)
    this.#state = 'values'
    return null
  }

  /** Redis writes zeros where its `rdbchecksum` is off. */
  #readSum(cursor: ByteCursor): null {
    const sum = cursor.take(CRC_BYTES)
    if (sum.some((byte) => byte !== 0) && !sum.equals(this.#crc.digest())) {
      throw new BackupError('Its checksum is wrong.')
    }
    this.#state = 'over'
    return null
  }

  #readValue(cursor: ByteCursor): RdbValue | null {
    const type = cursor.byte()
    if (type >= OPCODE.slotInfo) return this.#readOther(cursor, type)
    const key = cursor.string()
    try {
      return this.#readBehind(cursor, key, type)
    } catch (error) {
      if (!(error instanceof BackupError)) throw error
      const name = JSON.stringify(key.toString('utf8', 0, SHOWN_KEY_BYTES))
      throw new BackupError(`Key ${name}: ${error.message}`, { cause: error })
    }
  }

  #readBehind(cursor: ByteCursor, key: Buffer, type: number): RdbValue {
    const valueAt = cursor.at
    const skip = elementOf(type)
    const value = { database: this.#database, key, type, expiresMs: this.#expiresMs }
    if (skip !== null) {
      const opened: Opened = { ...value, left: cursor.length(), isFirst: true, skip }
      return this.#readElements(cursor, opened, valueAt)
    }
    skipValue(cursor, type)
    this.#expiresMs = null
    return { ...value, isFirst: true, isLast: true, bytes: cursor.bytes.subarray(valueAt, cursor.at) }
  }

  /** Of a value that fits into a piece `bytes` begins with its count, so that it is whole. */
  #readElements(cursor: ByteCursor, opened: Opened, valueAt: number = cursor.at): RdbValue {
    const { skip, isFirst, left: before, ...value } = opened
    const from = cursor.at
    let left = before
    while (left > 0 && cursor.at - from < PIECE_BYTES) {
      skip(cursor)
      left -= 1
    }
    const isLast = left === 0
    this.#opened = isLast ? null : { ...opened, left, isFirst: false }
    if (isLast) this.#expiresMs = null
    const bytes = cursor.bytes.subarray(isFirst && isLast ? valueAt : from, cursor.at)
    return { ...value, isFirst, isLast, bytes }
  }

  #readOther(cursor: ByteCursor, opcode: number): null {
    switch (opcode) {
      case OPCODE.end:
        this.#state = 'sum'
        break
      case OPCODE.database:
        this.#database = cursor.length()
        break
      case OPCODE.expiryMs:
        this.#expiresMs = Number(cursor.take(8).readBigInt64LE(0))
        break
      case OPCODE.expirySeconds:
        this.#expiresMs = cursor.take(4).readInt32LE(0) * 1000
        break
      case OPCODE.sizes:
        cursor.skipNumber()
        cursor.skipNumber()
        break
      case OPCODE.slotInfo:
        cursor.skipNumber()
        cursor.skipNumber()
        cursor.skipNumber()
        break
      case OPCODE.facts:
        cursor.skipString()
        cursor.skipString()
        break
      case OPCODE.idle:
        cursor.skipNumber()
        break
      case OPCODE.frequency:
        cursor.skip(1)
        break
      case OPCODE.functions:
        cursor.skipString()
        break
      case OPCODE.moduleData:
        // The form of its values: its id, then words.
        skipModule(cursor)
        break
      default:
        throw new BackupError(
          `It has a mark of type ${opcode}, which this version of Punctual does not know.`,
        )
    }
    return null
  }
}
