import type { Tool } from './tools.ts'

/**
 * `computing` suites keep the cores busy, `waiting` ones mostly wait: for leases, processes, an API server. A suite of
 * each kind runs at a time.
 */
export type Lane = 'computing' | 'waiting'

export interface Suite {
  /** The project in vitest.config.ts. */
  readonly name: string
  readonly lane: Lane
  /** On two cores at a load of four. Over it the summary says so; over {@link BUDGETS_MAX} times it the suite fails. */
  readonly budgetSeconds: number
  /** Without one of these the suite does not run. */
  readonly needs: readonly Tool[]
  /** Without one of these some of its tests are skipped. */
  readonly uses: readonly Tool[]
  /**
   * A test that failed here may have met a moment of the machine. Where a seed decides, a second run draws another one
   * and would hide a defect.
   */
  readonly isRunAgain: boolean
  /** Runs only when it is named: it needs more than this machine's own programs. */
  readonly isOnlyByName: boolean
}

/** How many times its budget a suite may take. */
export const BUDGETS_MAX = 2

/** Those that need no tools stand first in their lane: the tools are made meanwhile. */
export const SUITES: readonly Suite[] = [
  suite('unit', 'computing', 90),
  suite('simulation', 'computing', 360),
  suite('model', 'computing', 300, { needs: ['redis'] }),
  suite('integration', 'waiting', 480, { needs: ['redis'], uses: ['languages'], isRunAgain: true }),
  suite('isolated', 'waiting', 60, { needs: ['redis'], isRunAgain: true }),
  suite('dashboard', 'computing', 360, { needs: ['redis', 'chromium'], isRunAgain: true }),
  suite('cluster', 'waiting', 360, {
    needs: ['control-plane', 'helm'],
    uses: ['prometheus', 'prometheus-operator', 'checkov'],
    isRunAgain: true,
  }),
  suite('e2e', 'waiting', 720, { isRunAgain: true, isOnlyByName: true }),
]

function suite(
  name: string,
  lane: Lane,
  budgetSeconds: number,
  rest: Partial<Pick<Suite, 'needs' | 'uses' | 'isRunAgain' | 'isOnlyByName'>> = {},
): Suite {
  const usual = { needs: [], uses: [], isRunAgain: false, isOnlyByName: false }
  return { name, lane, budgetSeconds, ...usual, ...rest }
}
