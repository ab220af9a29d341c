/** Loaded before a program by `--import`: its modules get a quick clock where they import that of the machine. */
import { registerHooks } from 'node:module'

const CLOCK = new URL('../../../src/telemetry/system-clock.ts', import.meta.url).href
const QUICKENED = `
  import { systemClock as machine } from '${CLOCK}?machine'
  import { quickened } from '${new URL('quick-clock.ts', import.meta.url).href}'
  export const systemClock = Object.freeze(quickened(machine))
`

registerHooks({
  load: (url, context, nextLoad) =>
    url === CLOCK ? { format: 'module', source: QUICKENED, shortCircuit: true } : nextLoad(url, context),
})
