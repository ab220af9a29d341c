import { defineConfig } from 'vitest/config'

/** One project a layer (see CONTRIBUTING.md). Files of a layer that start servers run two at a time: the machine has two cores. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          // One second is too short on a busy machine.
          expect: { poll: { timeout: 8_000 } },
          include: ['test/unit/**/*.test.ts', 'clients/typescript/test/*.test.ts'],
          testTimeout: 10_000,
          pool: 'threads',
          maxWorkers: 2,
          // Reading the modules anew for each file took longer than the tests. None of them keeps anything in a module.
          isolate: false,
        },
      },
      {
        test: {
          name: 'model',
          // One second is too short on a busy machine.
          expect: { poll: { timeout: 8_000 } },
          include: ['test/model/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 30_000,
          pool: 'forks',
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'simulation',
          include: ['test/simulation/**/*.test.ts'],
          testTimeout: 60_000,
          pool: 'forks',
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
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
          testTimeout: 60_000,
          hookTimeout: 60_000,
          pool: 'forks',
          maxWorkers: 2,
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
          // Each a browser, a server and its Redis.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: 'test/e2e/support/setup.ts',
          testTimeout: 300_000,
          hookTimeout: 300_000,
          pool: 'forks',
          // One cluster: a scenario that stops the leader must not run beside one that counts calls.
          fileParallelism: false,
        },
      },
    ],
  },
})
