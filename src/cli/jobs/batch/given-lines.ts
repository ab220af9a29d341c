import { createReadStream } from 'node:fs'
import { BATCH_JOBS_MAX, REQUEST_BODY_BYTES_MAX } from '../../../domain/limits.ts'
import { cliError, MISUSED } from '../../cli-error.ts'
import type { Stdin } from '../../given-source.ts'

/** Far below what the API takes, so that a slow connection sends a batch in time. */
const BATCH_BYTES_MAX = 2 * 1024 * 1024
const NEWLINE = 0x0a

/** A line that is not empty. */
export interface GivenLine {
  /** From 1; empty lines count. */
  readonly number: number
  /** null when it is longer than a push may be. */
  readonly bytes: Buffer | null
}

/** Opens a file, or standard input for `-`. What cannot be read is a misuse. */
export async function* chunksOf(file: string, stdin: Stdin): AsyncGenerator<Uint8Array | string> {
  try {
    yield* file === '-' ? stdin : createReadStream(file)
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw cliError(`--file cannot be read: ${reason}`, MISUSED)
  }
}

/** The lines of a text, in batches that one request can hold; memory holds one batch and one line. */
export async function* batchesOf(chunks: Stdin): AsyncGenerator<readonly GivenLine[]> {
  let batch: GivenLine[] = []
  let bytes = 0
  for await (const line of linesOf(chunks)) {
    const length = line.bytes?.length ?? 0
    if (batch.length === BATCH_JOBS_MAX || (batch.length > 0 && bytes + length > BATCH_BYTES_MAX)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(line)
    bytes += length
  }
  if (batch.length > 0) yield batch
}

async function* linesOf(chunks: Stdin): AsyncGenerator<GivenLine> {
  const line = new OpenLine()
  let number = 1
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk)
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      line.add(bytes.subarray(from, end))
      if (!line.isEmpty()) yield { number, bytes: line.take() }
      number += 1
      from = end + 1
    }
    line.add(bytes.subarray(from))
  }
  if (!line.isEmpty()) yield { number, bytes: line.take() }
}

/** The line being read. Of one that is too long nothing is kept. */
class OpenLine {
  #parts: Buffer[] = []
  #length = 0

  add(part: Buffer): void {
    this.#length += part.length
    if (this.#length > REQUEST_BODY_BYTES_MAX) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  /** Of nothing, or of white space alone. */
  isEmpty(): boolean {
    if (this.#length > REQUEST_BODY_BYTES_MAX) return false
    if (Buffer.concat(this.#parts).toString('latin1').trim() !== '') return false
    this.take()
    return true
  }

  /** Ends the line; null when it was too long. */
  take(): Buffer | null {
    const bytes = this.#length > REQUEST_BODY_BYTES_MAX ? null : Buffer.concat(this.#parts)
    this.#parts = []
    this.#length = 0
    return bytes
  }
}
