import { createClient, type PunctualClient } from '../../../clients/typescript/src/client.ts'
import { team } from './team.ts'

/** Where the dashboard is served, without a slash at the end. */
export const BASE = new URL('.', document.baseURI).href.replace(/\/$/, '')

/** One that no page of another origin can set; the team is named for users of several teams. */
export function requestHeaders(chosen: string = team.get()): Readonly<Record<string, string>> {
  return { 'x-punctual-request': '1', ...(chosen !== '' && { 'x-punctual-team': chosen }) }
}

/** Sends the cookie of the session. */
function clientOf(chosen: string): PunctualClient {
  return createClient({
    server: BASE,
    headers: requestHeaders(chosen),
    // The page asks again by itself, and says meanwhile that it waits.
    retriesMax: 0,
  })
}

/** The client for the chosen team. */
export let api = clientOf(team.get())
team.subscribe(() => {
  api = clientOf(team.get())
})
