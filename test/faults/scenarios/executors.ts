import assert from 'node:assert/strict'
import type { StepName } from '../../../src/redis/steps.ts'
import { addExecutor } from '../runner/lone-executor.ts'
import { scenario, type Stage } from '../runner/scenario.ts'

export const EXECUTOR_SCENARIOS = [
  scenario('F01', 'executors are killed before and after a claim', (stage) => killAt(stage, 'claim'), {
    allowed: { moreCalls: 2 },
    isCheap: true,
    isRepeatable: true,
  }),
  scenario(
    'F02',
    'an executor is killed while calls are open, and its leases run out',
    async ({ here }) => {
      const [victim] = here.executors
      assert.ok(victim)
      victim.signal('SIGKILL')
      await here.reaped(victim)
    },
    { allowed: { moreCalls: 1 } },
  ),
  scenario('F03', 'executors are killed before and after a finish', (stage) => killAt(stage, 'finish'), {
    allowed: { moreCalls: 2 },
    isCheap: true,
    isRepeatable: true,
  }),
  scenario(
    'F04',
    'executors are replaced one after the other',
    async ({ here, redis, load }) => {
      for (const before of [...here.executors]) {
        await addExecutor({ here, redis })
        before.signal('SIGTERM')
        assert.deepEqual(await before.exited, { code: 0, signal: null })
        await load.accepts(50)
      }
    },
    { isCheap: true },
  ),
  scenario(
    'F05',
    'an executor freezes until others have its jobs, and wakes',
    async ({ here }) => {
      const [frozen] = here.executors
      assert.ok(frozen)
      frozen.signal('SIGSTOP')
      await here.reaped(frozen)
      frozen.signal('SIGCONT')
    },
    { allowed: { moreCalls: 1 }, isRepeatable: true },
  ),
  scenario(
    'F07',
    'an executor is cut off from Redis until others have its jobs',
    async ({ here, redis, load }) => {
      const { program, proxy } = await addExecutor({ here, redis })
      await load.accepts(100)
      proxy.blackHole()
      await here.reaped(program)
      const lines = program.log.length
      proxy.heal()
      await program.logged('The executor holds its leases', { after: lines })
      program.signal('SIGTERM')
      await program.exited
    },
    { allowed: { moreCalls: 1 }, isRepeatable: true },
  ),
]

/** Kills an executor before Redis gets its next step of this name, and another after Redis has run it. */
async function killAt({ here, redis, load }: Stage, step: StepName): Promise<void> {
  const hashes = await here.loadScripts()
  for (const when of ['before', 'after'] as const) {
    const { program, proxy } = await addExecutor({ here, redis })
    await proxy.cutAtScript(hashes[step], when, () => program.signal('SIGKILL'))
    await here.endLeases(program)
    await load.accepts(50)
  }
}
