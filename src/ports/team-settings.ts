/** What a team may reach beyond the public Internet, and its signing secrets; compiled, in force within 2 s. */
export interface TeamSettings {
  /** Rises with every change; connections are not shared between two versions. */
  readonly version: number
  readonly egressAllow: readonly string[]
  /** `whsec_…` or plain text as configured, newest first, at most two. */
  readonly signingSecrets: readonly string[]
}

export const NO_TEAM_SETTINGS: TeamSettings = Object.freeze({
  version: 0,
  egressAllow: Object.freeze([]),
  signingSecrets: Object.freeze([]),
})

/** Answers from memory; a refresh runs behind it, so it goes on when the source is away. */
export interface TeamSettingsSource {
  of(team: string): TeamSettings
}

/** Finds the team of a bearer token. Answers from memory and compares hashes, never texts. */
export interface TokenVerifier {
  /** null when the token is not known. */
  teamOf(token: string): string | null
}
