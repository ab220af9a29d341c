import { reasonOf } from '../domain/errors.ts'
import { LogGate } from '../domain/log-gate.ts'
import { traceFields, type TraceContext } from '../domain/net/trace-context.ts'
import type { DefectPart, Metrics } from '../ports/metrics.ts'
import type { Runtime } from '../ports/runtime.ts'

/** Tells of an exception that is a defect of ours and stopped only a part of one job. Never throws. */
export type NoteDefect = (part: Noted, error: unknown, work: NotedWork) => void

/** The work, or what is known of it. */
interface NotedWork {
  readonly team: string
  readonly jobId: number
  readonly request?: { readonly trace?: TraceContext }
  readonly callback?: { readonly trace?: TraceContext }
}

type Noted = Exclude<DefectPart, 'window' | 'alert' | 'step'>

const MESSAGES: Readonly<Record<Noted, string>> = {
  call: 'A call was not made because of a defect; its attempt failed',
  judgement: 'A response could not be judged because of a defect; its attempt failed',
  end: 'A job could not be ended because of a defect; it is quarantined',
  callback: 'A job ended without its callback because of a defect',
  call_record: 'A job ended without a record of its call because of a defect',
  aside: 'Something beside the end of a job failed because of a defect',
}

/** Counts every defect, and logs the first of each part and team at once, then one line a minute. */
export function createDefectNotes({
  clock,
  logger,
  metrics,
}: Runtime & { readonly metrics: Pick<Metrics, 'defectConfined'> }): NoteDefect {
  const gate = new LogGate()
  return (part, error, { team, jobId, request, callback }) => {
    try {
      const jobs = gate.pass(`${part} ${team}`, clock.monotonicMs())
      if (jobs > 0) {
        const trace = traceFields((request ?? callback)?.trace)
        logger.error(MESSAGES[part], { team, jobId, jobs, reason: reasonOf(error), ...trace })
      }
      metrics.defectConfined(part)
    } catch {
      // Whoever notes a defect is on the way to confine it: what the note stumbles over must not undo that.
    }
  }
}
