import type { LoopHealth } from '../../src/ports/loops/loop-health.ts'
import type { Runtime } from '../../src/ports/runtime.ts'
import { createLoopHealth } from '../../src/telemetry/loop-health.ts'
import { quietMetrics } from './quiet.ts'

/** The health of the loops of a test. */
export function loopsOf({ clock, logger }: Runtime): LoopHealth {
  return createLoopHealth({ clock, logger, metrics: quietMetrics }).loops
}
