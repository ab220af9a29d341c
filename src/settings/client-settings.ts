import type { Environment } from './setting.ts'

/** Read by the client verbs beside their flags; PUNCTUAL_TOKEN is a setting of roles too. */
export const CLIENT_VARIABLES = Object.freeze({ server: 'PUNCTUAL_SERVER', token: 'PUNCTUAL_TOKEN' })

const SERVER_INITIAL = 'http://127.0.0.1:8080'

export interface ClientSettings {
  /** Used without `--server`. */
  readonly server: string
  /** Used without `--token`. */
  readonly token: string | null
}

export function readClientSettings(env: Environment): ClientSettings {
  return {
    server: givenText(env[CLIENT_VARIABLES.server]) ?? SERVER_INITIAL,
    token: givenText(env[CLIENT_VARIABLES.token]),
  }
}

/** Trimmed. As for settings, an empty variable counts as not set. */
function givenText(variable: string | undefined): string | null {
  const text = variable?.trim() ?? ''
  return text === '' ? null : text
}
