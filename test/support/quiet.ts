import type { Logger } from '../../src/ports/logger.ts'
import type { Metrics } from '../../src/ports/metrics.ts'

export const quietLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quietLogger,
}

export const quietMetrics: Metrics = {
  jobsPushed: () => undefined,
  jobStarted: () => undefined,
  jobFinished: () => undefined,
  callbackFinished: () => undefined,
  callsInFlight: () => undefined,
  runnableQueues: () => undefined,
  leaseLost: () => undefined,
  clockJumped: () => undefined,
  callRecordsDropped: () => undefined,
  redisStep: () => undefined,
}
