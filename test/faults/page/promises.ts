import type { Proof } from './rows.ts'

/** A promise of the README, by its words in bold there, and what puts it to the proof. */
export interface Promised {
  readonly promise: string
  /** Rows of the fault matrix. */
  readonly rows: readonly string[]
  /** Tests beside those of the rows. */
  readonly tests: readonly Proof[]
}

export const PROMISES: readonly Promised[] = [
  promised('Accepted is kept', 'F01 F02 F03 F04 F05 F07 F09 F10 F11 F12 F15 F16 F17 F22 F33 F35 F36'),
  promised('At least once', 'F01 F02 F03 F05 F06 F07 F16 F17 F32 F35 F36'),
  promised('A tick is one run', 'F19 F20 F23 F24', [
    ['test/e2e/losses/ticks.ts', 'ticks are neither lost nor doubled'],
  ]),
  promised('Never early', 'F09 F16 F23 F24 F30 F35'),
  promised('Parallelism is a limit', 'F01 F02 F05 F06 F07 F09 F31', [
    ['test/integration/executor/parallelism.test.ts', 'never break a limit'],
  ]),
  promised('No strict order', ''),
  promised('Neighbours share', 'F31 F30', [
    ['test/integration/executor/shares.test.ts', 'are shared equally by four queues'],
  ]),
  promised('Executors may die', 'F01 F02 F04 F08 F32'),
  promised('Redis may go away', 'F09 F10 F11 F12 F13 F14 F15 F16 F35'),
  promised('A team is bounded', 'F13 F31', [['test/model/jobs/enqueue/quotas.test.ts', '']]),
  promised('Retention is bounded', '', [['test/model/jobs/history/history-budget.test.ts', '']]),
  promised('Targets are public by default', 'F27 F29', [
    ['test/integration/outbound/egress-rules.test.ts', ''],
  ]),
]

function promised(
  promise: string,
  rows: string,
  tests: ReadonlyArray<readonly [file: string, title: string]> = [],
): Promised {
  return {
    promise,
    rows: rows === '' ? [] : rows.split(' '),
    tests: tests.map(([file, title]) => ({ file, title })),
  }
}
