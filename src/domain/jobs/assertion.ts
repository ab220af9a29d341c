import { excerpt } from '../excerpt.ts'

/** A condition on a response, in addition to its 2xx status. Requests may give a numeric `value` as a string. */
export type SuccessAssertion =
  | { readonly type: 'status_code_equals'; readonly value: number }
  | { readonly type: 'body_contains'; readonly value: string }
  | { readonly type: 'response_time_under_ms'; readonly value: number }

/** Assertions that can never hold, by index, each with a sentence. */
export function impossibleAssertions(
  assertions: readonly SuccessAssertion[],
): ReadonlyArray<{ readonly index: number; readonly why: string }> {
  return assertions.flatMap((assertion, index) => {
    if (assertion.type !== 'status_code_equals' || (assertion.value >= 200 && assertion.value <= 299))
      return []
    return [{ index, why: `only a 2xx response is a success, so status ${assertion.value} can never pass.` }]
  })
}

/** The parts of a response that assertions check. */
export interface AssertedResponse {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [string, string]>
  /** The `soughtTexts` that occur in the first 256 KiB of the body, decoded as UTF-8. */
  readonly found: ReadonlySet<string>
  /** Whether the body ended before its end, or may have. */
  readonly isBodyCutShort: boolean
  /** Measured from the start of DNS to the end of the body. */
  readonly durationMs: number
}

const NOTHING_SOUGHT: readonly string[] = []

/** The texts that a response body is searched for. */
export function soughtTexts(assertions: readonly SuccessAssertion[]): readonly string[] {
  if (assertions.length === 0) return NOTHING_SOUGHT
  return assertions.flatMap((assertion) => (assertion.type === 'body_contains' ? [assertion.value] : []))
}

const KNOWN_TYPES: Readonly<Record<SuccessAssertion['type'], true>> = {
  status_code_equals: true,
  body_contains: true,
  response_time_under_ms: true,
}

/**
 * A sentence about the first assertion of an unknown type; null = all are known. Settings are kept as they were written:
 * another version may know more types than this one.
 */
export function unknownAssertion(assertions: ReadonlyArray<{ readonly type: unknown }>): string | null {
  for (const { type } of assertions) {
    if (typeof type === 'string' && Object.hasOwn(KNOWN_TYPES, type)) continue
    return `This executor does not know the assertion type ${quoted(String(type))}.`
  }
  return null
}

/** The first assertion that does not hold, as a sentence for `error_message`; null when all hold. */
export function brokenAssertion(
  assertions: readonly SuccessAssertion[],
  response: AssertedResponse,
): string | null {
  for (const assertion of assertions) {
    const broken = explainIfBroken(assertion, response)
    if (broken !== null) return broken
  }
  return null
}

const CODINGS: ReadonlySet<string> = new Set(['br', 'compress', 'deflate', 'gzip', 'x-gzip', 'zstd'])
/** The longest quote of an assertion's text in its message. */
const QUOTED_TEXT_CHARACTERS_MAX = 80

function quoted(text: string): string {
  return JSON.stringify(excerpt(text, QUOTED_TEXT_CHARACTERS_MAX))
}

/** Bodies are searched as they came. */
function codingNote({ headers }: AssertedResponse): string {
  const coding = headers.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1].toLowerCase()
  if (coding === undefined || coding === '' || coding === 'identity') return ''
  // A value of a header is shown to nobody who may not see it.
  return `: it is coded${CODINGS.has(coding) ? ` (${coding})` : ''} and is searched as it came`
}

function explainIfBroken(assertion: SuccessAssertion, response: AssertedResponse): string | null {
  switch (assertion.type) {
    case 'status_code_equals':
      return response.status === assertion.value
        ? null
        : `Expected status ${assertion.value}, got ${response.status}.`
    case 'body_contains':
      if (response.found.has(assertion.value)) return null
      return response.isBodyCutShort
        ? `The response body was cut short, and what came of it does not contain ${quoted(assertion.value)}.`
        : `The response body does not contain ${quoted(assertion.value)}${codingNote(response)}.`
    case 'response_time_under_ms':
      return response.durationMs < assertion.value
        ? null
        : `Expected a response in under ${assertion.value} ms, got one after ${Math.round(response.durationMs)} ms.`
  }
}
