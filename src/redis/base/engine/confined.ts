import { reasonOf } from '../../../domain/errors.ts'
import type { DefectPart } from '../../../ports/metrics.ts'
import type { Engine } from './engine.ts'

const MESSAGES = {
  window: 'Windows could not be judged because of a defect; alerts are not muted',
  alert: 'An alert could not be made because of a defect; it is raised without what it should say',
  step: 'A step left something out that it could not write; the rest was written',
  aside: 'Something beside the end of jobs failed because of a defect',
} as const satisfies Partial<Record<DefectPart, string>>

/**
 * Tells of an exception that is a defect and stopped only what it belongs to. Counts every one, and logs the first of each
 * part and team at once, then one line a minute. Never throws.
 *
 * @param of.team left out where it concerns no team, or several
 */
export function noteConfined(
  engine: Engine,
  part: keyof typeof MESSAGES,
  error: unknown,
  of: { readonly shard: number; readonly team?: string; readonly jobId?: number },
): void {
  try {
    const times = engine.faultGate.pass(`${part} ${of.team ?? ''}`, engine.runner.redisNowMs(of.shard))
    if (times > 0) engine.logger.error(MESSAGES[part], { ...of, times, reason: reasonOf(error) })
    engine.metrics.defectConfined(part)
  } catch {
    // What the note stumbles over must not undo that the defect is confined.
  }
}
