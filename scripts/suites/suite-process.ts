/**
 * Runs one suite of vitest.config.ts, or the files of it that are named, in a process of its own beside another's, and
 * tells what came of it.
 */
import { startVitest } from 'vitest/node'
import { summarise } from './summary.ts'

const [name = '', ...files] = process.argv.slice(2)
const vitest = await startVitest(
  'test',
  files,
  { watch: false, project: name, passWithNoTests: true },
  // Two suites at a time write down how long their files took.
  { cacheDir: `node_modules/.vite/${name}` },
)
const summary = summarise(vitest.state.getTestModules(), vitest.state.getUnhandledErrors())
await vitest.close()
process.send?.(summary, undefined, undefined, () => process.exit())
