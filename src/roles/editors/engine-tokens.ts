import type { SettingsCompiler } from '../../ports/settings.ts'
import type { TokenKeeper } from '../../ports/access/tokens.ts'
import type { CompiledSettings } from '../../redis/control/compiled-settings.ts'
import { NO_TERMS } from '../../domain/access/token-terms.ts'

/** Where there are no manifests, the engine itself keeps tokens; it knows neither prefix nor description. */
export function tokensInEngine(
  compiler: Pick<SettingsCompiler, 'putToken' | 'removeToken'>,
  compiled: Pick<CompiledSettings, 'tokensOf' | 'isAccepted' | 'refresh'>,
): TokenKeeper {
  return {
    all: async (team) => {
      await compiled.refresh()
      return compiled.tokensOf(team).map(({ subject: name, terms = NO_TERMS }) => ({
        team,
        name,
        prefix: null,
        description: null,
        terms,
      }))
    },
    create: async (token) => {
      await compiler.putToken(token)
      // It is stored, and its text is told but once: what cannot be read again now is read by the next poll.
      await compiled.refresh().catch(() => undefined)
    },
    remove: async (team, name) => {
      await compiled.refresh()
      if (!compiled.isAccepted(team, name)) return 'not_found'
      await compiler.removeToken(team, name)
      await compiled.refresh()
      return 'removed'
    },
  }
}
