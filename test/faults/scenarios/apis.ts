import { scenario } from '../runner/scenario.ts'

export const API_SCENARIOS = [
  scenario(
    'F17',
    'the API is killed before and after Redis takes its pushes',
    async ({ here, redis: { apiProxy }, restartApi, load }) => {
      const hashes = await here.loadScripts()
      let { program } = here.api
      for (const when of ['before', 'after'] as const) {
        await apiProxy.cutAtScript(hashes.enqueue, when, () => program.signal('SIGKILL'))
        await program.exited
        const api = await restartApi()
        program = api.program
        await load.accepts(50)
      }
    },
    { isCheap: true },
  ),
]
