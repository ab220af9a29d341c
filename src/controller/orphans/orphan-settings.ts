import type { Informer, ObjectKey } from '../../ports/kubernetes.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import { TEAM_SETTINGS_NAME, type ApiToken, type TeamSettings } from '../kinds.ts'

export interface OrphanSettingsParts {
  readonly engine: Pick<LeaderSession, 'applied'>
  readonly isWatched: (namespace: string) => boolean
  readonly teams: Pick<Informer<TeamSettings>, 'get' | 'whenSynced'>
  readonly tokens: Pick<Informer<ApiToken>, 'get' | 'whenSynced'>
  readonly enqueueTeam: (key: ObjectKey) => void
  readonly enqueueToken: (key: ObjectKey) => void
}

/**
 * Enqueues applied teams and tokens whose resource is missing: it was deleted while there was no leader. The reconciler
 * confirms the deletion with the API server before it removes anything. Throws StoreUnavailableError.
 */
export async function enqueueOrphanSettings(
  { engine, isWatched, teams, tokens, enqueueTeam, enqueueToken }: OrphanSettingsParts,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([teams.whenSynced(signal), tokens.whenSynced(signal)])
  const applied = await engine.applied()
  for (const team of applied.teams) {
    const key = `${team}/${TEAM_SETTINGS_NAME}`
    if (isWatched(team) && teams.get(key) === undefined) enqueueTeam(key)
  }
  for (const { team, name } of applied.tokens) {
    const key = `${team}/${name}`
    if (isWatched(team) && tokens.get(key) === undefined) enqueueToken(key)
  }
}
