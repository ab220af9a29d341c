import { isUtf8 } from 'node:buffer'
import { trimmed } from './blanks.ts'
import type { BodyEnd } from './framing.ts'

type HeaderPairs = ReadonlyArray<readonly [string, string]>

/** What is known of a head beside its headers. */
interface HeadFacts {
  readonly status: number
  readonly bodyEnd: BodyEnd
  /** How long the connection may idle after this response; 0 if it cannot be used again. */
  readonly keepAliveMs: number
  /** false = the body may end elsewhere than `bodyEnd` says. */
  readonly isEndSure: boolean
  /** What is wrong with it, a sentence each; null = nothing. */
  readonly notes: readonly string[] | null
}

/** The head of a response. Its headers become pairs when somebody looks: most responses are only counted. */
export class ResponseHead implements HeadFacts {
  readonly status: number
  readonly bodyEnd: BodyEnd
  readonly keepAliveMs: number
  readonly isEndSure: boolean
  readonly notes: readonly string[] | null
  readonly #headers: string | HeaderPairs

  /** @param headers as pairs, or as a sound text from the status line to the last header */
  constructor(headers: string | HeaderPairs, facts: HeadFacts) {
    this.status = facts.status
    this.bodyEnd = facts.bodyEnd
    this.keepAliveMs = facts.keepAliveMs
    this.isEndSure = facts.isEndSure
    this.notes = facts.notes
    this.#headers = headers
  }

  /** Headers in their order and spelling, values without the white space around them, those in UTF-8 decoded. */
  get headers(): HeaderPairs {
    if (typeof this.#headers !== 'string') return this.#headers.map(([name, value]) => [name, decoded(value)])
    const [, ...lines] = this.#headers.split('\r\n')
    return lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), decoded(trimmed(line, colon + 1))] as const
    })
  }
}

const BEYOND_ASCII = /[\x80-\xff]/

/** @param value each byte a character; what is no UTF-8 is taken for Latin-1 */
function decoded(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : value
}
