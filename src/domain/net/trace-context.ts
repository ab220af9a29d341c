import { TRACE_STATE_CHARACTERS_MAX } from '../limits.ts'

/** Where in a trace something happens, in the words of the W3C headers `traceparent` and `tracestate`. */
export interface TraceContext {
  /** `00-<trace id>-<span id>-<flags>`, 55 characters. */
  readonly parent: string
  /** What tracing systems have added; absent = nothing. */
  readonly state?: string
}

/** The one version of the header that is specified. A later one begins in the same way, and more may follow. */
const PARENT =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-[\x21-\x7e]*)?$/
const MEMBER =
  /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
const MEMBERS_MAX = 32
/** With the blanks that may stand around members. */
const PRINTABLE = /^[\t\x20-\x7e]*$/
const VERSION_LENGTH = 3
const TRACE_ID_LENGTH = 32
const FLAGS_AT = 53
const SAMPLED = 1

/**
 * Reads the two headers. What the standard does not allow is ignored: without a sound `traceparent` there is no context,
 * and a `tracestate` that is not sound, or too long, is left out.
 */
export function traceContextOf(parent: unknown, state: unknown): TraceContext | null {
  if (typeof parent !== 'string') return null
  const [, version, ids, more] = PARENT.exec(parent) ?? []
  if (ids === undefined || (version === '00' && more !== undefined)) return null
  return { parent: `00-${ids}`, ...(isState(state) && { state }) }
}

function isState(state: unknown): state is string {
  if (typeof state !== 'string' || state === '' || state.length > TRACE_STATE_CHARACTERS_MAX) return false
  if (!PRINTABLE.test(state)) return false
  // One after the other: of a pattern for all of them, a hostile state would try every combination.
  const members = state.split(',').map((member) => member.trim())
  return members.length <= MEMBERS_MAX && members.every((member) => MEMBER.test(member))
}

/** 32 characters, hexadecimal. */
export function traceIdOf({ parent }: TraceContext): string {
  return parent.slice(VERSION_LENGTH, VERSION_LENGTH + TRACE_ID_LENGTH)
}

/** 16 characters, hexadecimal. */
export function spanIdOf({ parent }: TraceContext): string {
  return parent.slice(VERSION_LENGTH + TRACE_ID_LENGTH + 1, FLAGS_AT - 1)
}

/** Whether whoever gave the context records its trace. */
export function isSampled({ parent }: TraceContext): boolean {
  return (Number.parseInt(parent.slice(FLAGS_AT), 16) & SAMPLED) === SAMPLED
}

/** What a log line says of the trace; nothing where none is recorded. */
export function traceFields(context: TraceContext | null | undefined): Record<string, string> {
  if (context === null || context === undefined || !isSampled(context)) return {}
  return { trace_id: traceIdOf(context), span_id: spanIdOf(context) }
}
