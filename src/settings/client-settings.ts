import type { Environment } from './setting.ts'

/** Read by the client verbs beside their flags; PUNCTUAL_TOKEN is a setting of roles too. */
export const CLIENT_VARIABLES = Object.freeze({ server: 'PUNCTUAL_SERVER', token: 'PUNCTUAL_TOKEN' })

/** Where a standalone listens unless it is told otherwise. */
export const SERVER_INITIAL = 'http://127.0.0.1:8080'

/** The data folder of the roles that have one. */
export const DATA_DIR_INITIAL = '.punctual'

export interface ClientSettings {
  /** Used without `--server`; null = the standalone of the data folder, else `SERVER_INITIAL`. */
  readonly server: string | null
  /** Used without `--token`. */
  readonly token: string | null
  /** Where a standalone may run whose address and token are used when none are given. */
  readonly dataDir: string
}

export function readClientSettings(env: Environment): ClientSettings {
  return {
    server: givenText(env[CLIENT_VARIABLES.server]),
    token: givenText(env[CLIENT_VARIABLES.token]),
    dataDir: givenText(env['PUNCTUAL_DATA_DIR']) ?? DATA_DIR_INITIAL,
  }
}

/** Trimmed. As for settings, an empty variable counts as not set. */
function givenText(variable: string | undefined): string | null {
  const text = variable?.trim() ?? ''
  return text === '' ? null : text
}
