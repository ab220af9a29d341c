import { createClient, type PunctualClient } from '../../../clients/typescript/src/client.ts'
import { createKnownAnswers } from './known-answers.ts'
import { team } from './team.ts'

/** The team that the page shows; empty = the session's own. */
let shown = team.get()

/** Where the dashboard is served, without a slash at the end. */
export const BASE = new URL('.', document.baseURI).href.replace(/\/$/, '')

/** One that no page of another origin can set; the team is named for users of several teams. */
export function requestHeaders(chosen: string = shown): Readonly<Record<string, string>> {
  return { 'x-punctual-request': '1', ...(chosen !== '' && { 'x-punctual-team': chosen }) }
}

/** Sends the cookie of the session. */
function clientOf(chosen: string): PunctualClient {
  return createClient({
    server: BASE,
    headers: requestHeaders(chosen),
    // The page asks again by itself, and says meanwhile that it waits.
    retriesMax: 0,
    fetch: createKnownAnswers((...asked) => fetch(...asked)),
  })
}

/** The client for the team that the page shows. */
export let api = clientOf(shown)

/**
 * Keeps this page in one team even if another tab chooses another: the same id names something else there. Each request
 * names the team, and the server refuses one that is not the session's.
 */
export function stayIn(next: string): void {
  if (next === shown) return
  shown = next
  api = clientOf(next)
}

/** Shows the team that was named at the login. */
export function enterTeam(named: string): void {
  team.set(named)
  stayIn(named)
}
