import { Command, type Cluster, type Redis } from 'ioredis'

type Word = string | number

/** Runs are written behind each other into pieces of memory of this size; a larger one gets a piece of its own. */
const PIECE_BYTES = 64 * 1024
/** Text up to this length is written faster by character than by a call of the runtime. */
const SHORT_CHARACTERS = 40
/** The most bytes of a character of a string in UTF-8, and of what stands around a word: `$`, its length, two line ends. */
const CHARACTER_BYTES = 3
const FRAME_BYTES = 15

let piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
let at = 0

/**
 * The run of a script as Redis is sent it (RESP). The client would build a text of a dozen words a job and have it encoded;
 * this writes the bytes once.
 */
class ScriptRun extends Command {
  readonly #bytes: Buffer

  constructor(sha: string, keyCount: number, words: readonly Word[]) {
    // What the client looks at: the first key decides the slot.
    super('evalsha', [sha, '1', String(words[0])], { replyEncoding: 'utf8' })
    this.#bytes = bytesOf(sha, keyCount, words)
  }

  override toWritable(): Buffer {
    return this.#bytes
  }
}

/** Makes a client write runs of scripts as bytes. */
export function writeScriptRuns<Client extends Redis | Cluster>(client: Client): Client {
  const evalsha = (sha: string, keyCount: number, ...words: readonly Word[]) =>
    client.sendCommand(new ScriptRun(sha, keyCount, words))
  return Object.assign(client, { evalsha })
}

export function bytesOf(sha: string, keyCount: number, words: readonly Word[]): Buffer {
  let most = 4 * FRAME_BYTES + sha.length
  for (const word of words)
    most += FRAME_BYTES + (typeof word === 'string' ? CHARACTER_BYTES * word.length : 24)
  if (at + most > piece.length) {
    piece = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, most))
    at = 0
  }
  const start = at
  writeLine('*', words.length + 3)
  writeWord('evalsha')
  writeWord(sha)
  writeWord(String(keyCount))
  for (const word of words) writeWord(typeof word === 'string' ? word : String(word))
  return piece.subarray(start, at)
}

function writeLine(mark: string, count: number): void {
  piece[at] = mark.charCodeAt(0)
  at += 1
  const digits = String(count)
  for (let i = 0; i < digits.length; i += 1) piece[at + i] = digits.charCodeAt(i)
  at += digits.length
  endLine()
}

function endLine(): void {
  piece[at] = 0x0d
  piece[at + 1] = 0x0a
  at += 2
}

function writeWord(text: string): void {
  const { length } = text
  const start = at
  writeLine('$', length)
  if (length > SHORT_CHARACTERS || !writeAscii(text)) {
    const bytes = Buffer.byteLength(text)
    if (bytes !== length) {
      at = start
      writeLine('$', bytes)
    }
    piece.write(text, at)
    at += bytes
  }
  endLine()
}

/** Answers false, with nothing written, when a character has more than one byte. */
function writeAscii(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) return false
    piece[at + i] = code
  }
  at += text.length
  return true
}
