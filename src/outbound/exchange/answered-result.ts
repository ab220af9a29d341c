import type { HttpCallResult } from '../../ports/http-caller.ts'
import type { ResponseHead } from '../wire/response-head.ts'

type Answered = Extract<HttpCallResult, { kind: 'answered' }>

/** An answer without its headers. */
type Facts = Pick<
  Answered,
  'durationMs' | 'timings' | 'body' | 'bodyTruncated' | 'isBodyCutShort' | 'found'
> & {
  /** What is wrong with the body; null = nothing. */
  readonly bodyNote: string | null
}

/** The result of a call that was answered. Headers become pairs when somebody looks: most results are only counted. */
export class AnsweredResult implements Answered {
  readonly kind = 'answered'
  readonly durationMs: number
  readonly timings: Answered['timings']
  readonly status: number
  readonly body: Uint8Array
  readonly bodyTruncated: boolean
  readonly isBodyCutShort: boolean
  readonly found: ReadonlySet<string>
  readonly #sent: readonly string[]
  readonly #head: ResponseHead
  readonly #bodyNote: string | null

  /** @param sent names and values of the request's headers in turn */
  constructor(sent: readonly string[], head: ResponseHead, facts: Facts) {
    this.durationMs = facts.durationMs
    this.timings = facts.timings
    this.status = head.status
    this.body = facts.body
    this.bodyTruncated = facts.bodyTruncated
    this.isBodyCutShort = facts.isBodyCutShort
    this.found = facts.found
    this.#bodyNote = facts.bodyNote
    this.#sent = sent
    this.#head = head
  }

  get requestHeaders(): Answered['requestHeaders'] {
    return headerPairs(this.#sent)
  }

  get headers(): Answered['headers'] {
    return this.#head.headers
  }

  get protocolNotes(): Answered['protocolNotes'] {
    const notes = this.#head.notes ?? []
    return this.#bodyNote === null ? notes : [...notes, this.#bodyNote]
  }
}

/** @param headers names and values in turn */
export function headerPairs(headers: readonly string[]): HttpCallResult['requestHeaders'] {
  const pairs: Array<readonly [string, string]> = []
  for (let at = 0; at + 1 < headers.length; at += 2) pairs.push([headers[at] ?? '', headers[at + 1] ?? ''])
  return pairs
}
