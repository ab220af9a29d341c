import assert from 'node:assert/strict'
import type { Program } from '../../support/servers/processes.ts'
import { toolPath } from '../../support/tools.ts'
import { scenario } from '../runner/scenario.ts'

export const VERSION_SCENARIOS = [
  scenario('F36', 'executors become those of the version before, and then of this one', async (stage) => {
    const { here, load } = stage
    const before = toolPath('version-before.sh')
    const replace = async (old: readonly Program[], version: string | null) => {
      await here.startExecutor({}, version)
      for (const program of old) {
        program.signal('SIGTERM')
        assert.deepEqual(await program.exited, { code: 0, signal: null })
      }
      await load.accepts(200)
    }
    await replace([...here.executors], before)
    await replace(here.executors.slice(-1), null)
  }),
]
