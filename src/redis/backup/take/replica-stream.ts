import type { Duplex } from 'node:stream'
import type { Redis } from 'ioredis'
import { BackupError, reasonOf } from '../../../domain/errors.ts'
import type { Clock } from '../../../ports/runtime.ts'

/**
 * A primary that sends nothing for so long is given up: while it prepares its copy, it says every ten seconds that it is
 * still there.
 */
const SILENCE_MS_MAX = 120_000
/** Of an answer in words. */
const LINE_BYTES_MAX = 1024
const MARK_BYTES = 40
const NEWLINE = 0x0a

/** Asks a primary for a copy of its data as a replica does. @param name of the primary, for messages */
export async function* copyOf(
  primary: Pick<Redis, 'duplicate'>,
  { name, clock }: { readonly name: string; readonly clock: Clock },
): AsyncGenerator<Buffer, void, void> {
  // A connection of its own: once it is a replica's, it can ask nothing else.
  const client = primary.duplicate({ lazyConnect: true, retryStrategy: () => null, readOnly: false })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const input = new ReplicaInput(streamOf(client), clock)
    await input.say('REPLCONF rdb-only 1')
    // A server that does not know it sends all that follows as well, which is not read.
    await input.line()
    await input.say('REPLCONF capa eof')
    await input.line()
    await input.say('PSYNC ? -1')
    const answer = await input.line()
    if (!answer.startsWith('+FULLRESYNC')) throw refusal(answer)
    yield* input.copy(await input.line())
  } catch (error) {
    const text = reasonOf(error).replace(/\.$/, '')
    throw new BackupError(`${name} sends no copy of its data: ${text}.`, { cause: error })
  } finally {
    client.disconnect()
  }
}

function refusal(answer: string): Error {
  const isForbidden = /^-(?:NOPERM|ERR unknown command)/.test(answer)
  const advice = isForbidden
    ? ' Its user needs +psync and +replconf; where a provider allows neither, use the snapshots of the provider.'
    : ''
  return new Error(`it answers ${JSON.stringify(answer)}.${advice}`)
}

/** Takes the connection over from the client, which has no question open. */
function streamOf(client: Redis): Duplex {
  const { stream } = client as unknown as { readonly stream: Duplex }
  stream.removeAllListeners('data')
  stream.pause()
  return stream
}

/** What a primary says to a replica. Owns the bytes that are not read yet. */
class ReplicaInput {
  readonly #stream: Duplex
  readonly #clock: Clock
  readonly #chunks: AsyncIterator<Buffer>
  #held: Buffer = Buffer.alloc(0)

  constructor(stream: Duplex, clock: Clock) {
    this.#stream = stream
    this.#clock = clock
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  async say(words: string): Promise<void> {
    this.#stream.write(`${words}\r\n`)
  }

  /** The next line that is not empty: empty ones say that the primary is still there. */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf(NEWLINE)
      if (end === -1) {
        if (this.#held.length > LINE_BYTES_MAX) throw new Error('it does not speak the protocol of Redis')
        await this.#more()
        continue
      }
      const line = this.#held.subarray(0, end).toString('latin1').trim()
      this.#held = this.#held.subarray(end + 1)
      if (line !== '') return line
    }
  }

  /** @param head says how long the copy is, or by which mark it ends */
  async *copy(head: string): AsyncGenerator<Buffer, void, void> {
    const [, mark, length] = /^\$(?:EOF:([0-9a-zA-Z]{40})|([0-9]{1,15}))$/.exec(head) ?? []
    if (mark !== undefined) yield* this.#untilMark(Buffer.from(mark, 'latin1'))
    else if (length !== undefined) yield* this.#counted(Number(length))
    else throw refusal(head)
  }

  async *#counted(length: number): AsyncGenerator<Buffer, void, void> {
    for (let left = length; left > 0;) {
      if (this.#held.length === 0) await this.#more()
      const part = this.#held.subarray(0, left)
      this.#held = this.#held.subarray(part.length)
      left -= part.length
      yield part
    }
  }

  async *#untilMark(mark: Buffer): AsyncGenerator<Buffer, void, void> {
    for (;;) {
      const end = this.#held.indexOf(mark)
      // What may be the beginning of the mark is kept.
      const sure = end === -1 ? Math.max(0, this.#held.length - MARK_BYTES + 1) : end
      if (sure > 0) yield this.#held.subarray(0, sure)
      if (end !== -1) return
      this.#held = this.#held.subarray(sure)
      await this.#more()
    }
  }

  async #more(): Promise<void> {
    const { promise: silent, reject } = Promise.withResolvers<never>()
    const cancel = this.#clock.after(SILENCE_MS_MAX, () =>
      reject(new Error(`it has sent nothing for ${SILENCE_MS_MAX / 1000} s`)),
    )
    try {
      const { value, done } = await Promise.race([this.#chunks.next(), silent])
      if (done === true) throw new Error('it has ended the connection too early')
      this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value])
    } finally {
      cancel()
    }
  }
}
