import { isSameServer } from './same-server.ts'

/** The data folder in which a standalone of this machine may run. */
export interface LocalFolder {
  /** As it is shown to the user. */
  readonly path: string
  /** null = no standalone runs there. */
  readonly running: { readonly url: string; readonly token: string | null } | null
}

/** Reads the data folder; it is read only for a command that lacks an address or a token. */
export type FindLocal = () => Promise<LocalFolder>

interface Given {
  /** null = neither a flag nor a variable names one. */
  readonly server: string | null
  readonly token: string | null
}

export interface FoundApi {
  readonly server: string
  readonly token: string | null
  /** Says where a token was looked for, for the error when there is none. */
  readonly tokenHint: string
}

/**
 * Completes address and token from the standalone that runs in the data folder. Its token goes to its own address only,
 * so that no other server learns it.
 * @param fallback the address when none is given and no standalone runs
 */
export async function findApi(given: Given, fallback: string, findLocal: FindLocal): Promise<FoundApi> {
  const isTokenGiven = given.token !== null && given.token.trim() !== ''
  if (given.server !== null && isTokenGiven)
    return { server: given.server, token: given.token, tokenHint: '' }
  const { path, running } = await findLocal()
  const server = given.server ?? running?.url ?? fallback
  if (isTokenGiven) return { server, token: given.token, tokenHint: '' }
  if (running === null) {
    return { server, token: null, tokenHint: `no standalone runs in ${path}, PUNCTUAL_DATA_DIR` }
  }
  if (!isSameServer(server, running.url)) {
    return { server, token: null, tokenHint: `the one in ${path} is for ${running.url} alone` }
  }
  return { server, token: running.token, tokenHint: `${path} holds none that can be read` }
}
