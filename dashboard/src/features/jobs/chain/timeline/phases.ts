import type { Call } from '../../../../../../clients/typescript/src/client.ts'

export interface Phase {
  readonly name: string
  /** A class of the style sheet. */
  readonly kind: 'wait' | 'dns' | 'connect' | 'tls' | 'first-byte' | 'body' | 'call'
  readonly ms: number
}

/** A shorter phase is too thin to be seen and is left out. */
const SHOWN_MS_MIN = 0.5

interface Timed {
  readonly scheduled_at: string
  readonly started_at: string | null
  readonly duration_ms: number | null
}

/**
 * What an attempt spent its time with, from when it was due, in order. Without a record of its call, the call is one phase.
 * @param nowMs where an attempt that goes on ends for now
 */
export function phasesOf(job: Timed, call: Call | null, nowMs: number): Phase[] {
  const dueMs = Date.parse(job.scheduled_at)
  if (job.started_at === null)
    return dueMs >= nowMs ? [] : [{ name: 'Waits', kind: 'wait', ms: nowMs - dueMs }]
  const startMs = Date.parse(job.started_at)
  const wait: Phase = { name: 'Waited for its start', kind: 'wait', ms: Math.max(0, startMs - dueMs) }
  if (call === null) {
    const ms = job.duration_ms ?? Math.max(0, nowMs - startMs)
    return [wait, { name: job.duration_ms === null ? 'In flight' : 'Call', kind: 'call', ms }]
  }
  const { timings } = call
  const parts: ReadonlyArray<readonly [name: string, kind: Phase['kind'], ms: number | null]> = [
    ['DNS', 'dns', timings.dns_ms],
    ['Connect', 'connect', timings.connect_ms],
    ['TLS', 'tls', timings.tls_ms],
    ['First byte of the answer', 'first-byte', timings.first_byte_ms],
    ['Rest of the answer', 'body', timings.body_ms],
  ]
  const known = parts.flatMap(([name, kind, ms]) =>
    ms === null || ms < SHOWN_MS_MIN ? [] : [{ name, kind, ms }],
  )
  // A call that failed spent time with what never ended, such as a connection that was refused late.
  const rest = call.duration_ms - known.reduce((sum, { ms }) => sum + ms, 0)
  return [wait, ...known, ...(rest > 1 ? [{ name: 'Until it failed', kind: 'call' as const, ms: rest }] : [])]
}

export function totalMs(phases: readonly Phase[]): number {
  return phases.reduce((sum, { ms }) => sum + ms, 0)
}
