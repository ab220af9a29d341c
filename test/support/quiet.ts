import type { ClusterMetrics, Metrics, ReconcileMetrics } from '../../src/ports/metrics.ts'
import type { Logger } from '../../src/ports/runtime.ts'

export const quietLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quietLogger,
}

export const quietMetrics: Metrics = {
  jobsPushed: () => undefined,
  jobsLost: () => undefined,
  refusedByQuota: () => undefined,
  jobStarted: () => undefined,
  jobFinished: () => undefined,
  claimAnsweredLate: () => undefined,
  callbackFinished: () => undefined,
  callSlots: () => undefined,
  shardsHeld: () => undefined,
  leaseLost: () => undefined,
  clockJumped: () => undefined,
  clockBehind: () => undefined,
  clockHeld: () => undefined,
  callRecordsDropped: () => undefined,
  jobsQuarantined: () => undefined,
  defectConfined: () => undefined,
  alertsRaised: () => undefined,
  notificationTried: () => undefined,
  channelFailed: () => undefined,
  setAside: () => undefined,
  loopFailed: () => undefined,
  loopsFailing: () => undefined,
  redisStep: () => undefined,
}

export const quietReconcileMetrics: ReconcileMetrics = {
  reconciled: () => undefined,
  queueDepth: () => undefined,
  keyAdded: () => undefined,
  keyRetried: () => undefined,
  keyWaited: () => undefined,
  workersActive: () => undefined,
  leading: () => undefined,
  eventsDropped: () => undefined,
}

export const quietClusterMetrics: ClusterMetrics = {
  requestEnded: () => undefined,
  watchEnded: () => undefined,
  watchHeard: () => undefined,
}
