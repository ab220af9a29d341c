import { NO_QUOTAS, type TeamQuotas } from '../domain/quotas.ts'

/** What a team may reach beyond the public Internet, its signing secrets and its quotas; compiled, in force within 2 s. */
export interface TeamSettings {
  /** Rises with every change; connections are not shared between two versions. */
  readonly version: number
  readonly egressAllow: readonly string[]
  /** `whsec_…` or plain text as configured, newest first, at most two. */
  readonly signingSecrets: readonly string[]
  /** The team's own; the installation's count beside them. */
  readonly quotas: TeamQuotas
}

export const NO_TEAM_SETTINGS: TeamSettings = Object.freeze({
  version: 0,
  egressAllow: Object.freeze([]),
  signingSecrets: Object.freeze([]),
  quotas: NO_QUOTAS,
})

/** Answers from memory; a refresh runs behind it, so it goes on when the source is away. */
export interface TeamSettingsSource {
  of(team: string): TeamSettings
}

export interface BoundedTeamsSource extends TeamSettingsSource {
  /** Teams that have a quota of calls in flight of their own. */
  boundedTeams(): readonly string[]
}

/** Finds the team of a bearer token. Answers from memory and compares hashes, never texts. */
export interface TokenVerifier {
  /** null when the token is not known. */
  teamOf(token: string): string | null
}
