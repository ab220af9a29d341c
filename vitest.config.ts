import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/suites/longest-first.ts'

const WORKER_SETUP = 'test/support/servers/worker-setup.ts'

/**
 * One project a layer (see CONTRIBUTING.md). Files run two at a time: the machine has two cores. They share a worker's
 * modules (`isolate: false`), as reading them anew takes a second of CPU a file; so no file may keep anything in one.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          // One second is too short on a busy machine.
          expect: { poll: { timeout: 8_000 } },
          include: ['test/unit/**/*.test.ts', 'clients/typescript/test/*.test.ts'],
          // No bound on what is tested: these take milliseconds, but for a machine that is busy otherwise.
          testTimeout: 60_000,
          pool: 'threads',
          maxWorkers: 2,
          isolate: false,
        },
      },
      {
        test: {
          name: 'model',
          setupFiles: [WORKER_SETUP],
          // One second is too short on a busy machine.
          expect: { poll: { timeout: 8_000 } },
          include: ['test/model/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 30_000,
          pool: 'forks',
          maxWorkers: 2,
          isolate: false,
        },
      },
      {
        test: {
          name: 'simulation',
          include: ['test/simulation/**/*.test.ts'],
          testTimeout: 60_000,
          pool: 'forks',
          maxWorkers: 2,
          isolate: false,
        },
      },
      {
        test: {
          name: 'integration',
          setupFiles: [WORKER_SETUP],
          include: ['test/integration/**/*.test.ts'],
          exclude: ['test/integration/isolated/**'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          pool: 'forks',
          // They wait for leases, minutes and processes most of the time.
          maxWorkers: 4,
          isolate: false,
        },
      },
      {
        test: {
          // They put other modules in the place of the product's, or measure a whole process.
          name: 'isolated',
          setupFiles: [WORKER_SETUP],
          include: ['test/integration/isolated/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          pool: 'forks',
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          globalSetup: 'test/cluster/setup.ts',
          // On a busy machine; where time is the point, a test says so itself.
          testTimeout: 180_000,
          hookTimeout: 180_000,
          pool: 'forks',
          // Half of them wait, for leases, syncs and polls.
          maxWorkers: 3,
          isolate: false,
        },
      },
      {
        test: {
          name: 'dashboard',
          include: ['test/dashboard/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // A page reads changes again three seconds after the last ones.
          expect: { poll: { timeout: 15_000 } },
          pool: 'forks',
          // Each a browser, a server and its Redis, which wait for each other most of the time.
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: 'test/e2e/support/setup.ts',
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // Each file is a sequence of scenarios on a release of its own. More at a time and two cores start pods so
          // slowly that Redis answers late.
          pool: 'threads',
          isolate: false,
          maxWorkers: 2,
        },
      },
    ],
  },
})
