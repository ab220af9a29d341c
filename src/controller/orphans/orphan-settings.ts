import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import type { QueuePriority } from '../../ports/metrics.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import type { ApiToken, TeamSettings } from '../kinds.ts'
import { TEAM_SETTINGS_NAME } from '../teams/team-reconciler.ts'

export interface OrphanSettingsParts {
  readonly engine: Pick<LeaderSession, 'applied'>
  readonly lines: Readonly<Record<'team' | 'token', (key: ObjectKey, priority: QueuePriority) => void>>
  readonly isWatched: (namespace: string) => boolean
  readonly teams: { readonly view: Pick<Informer<TeamSettings>, 'get' | 'whenSynced'> }
  readonly tokens: { readonly view: Pick<Informer<ApiToken>, 'get' | 'whenSynced'> }
}

/**
 * Finds teams and tokens in force whose resource is gone: deleted while nobody led. It gives them a turn; the
 * reconciler asks the API server itself before it removes anything.
 */
export function createOrphanSettings(parts: OrphanSettingsParts): {
  look(signal: AbortSignal): Promise<void>
} {
  return {
    look: async (signal) => {
      const { engine, lines, isWatched } = parts
      await Promise.all([parts.teams.view.whenSynced(signal), parts.tokens.view.whenSynced(signal)])
      const { teams, tokens } = await engine.applied()
      for (const team of teams) {
        const key = `${team}/${TEAM_SETTINGS_NAME}`
        if (isWatched(team) && parts.teams.view.get(key) === undefined) lines.team(key, 'low')
      }
      for (const { team, name } of tokens) {
        const key = `${team}/${name}`
        if (isWatched(team) && parts.tokens.view.get(key) === undefined) lines.token(key, 'low')
      }
    },
  }
}
