import type { Query, QueryClient } from '@tanstack/preact-query'
import type { Answers } from '../../../clients/typescript/src/client.ts'

/** The kinds of things that hints of the server are about. */
export const HINT_KINDS = ['jobs', 'queues', 'crons', 'alerts', 'settings', 'audit'] as const
type Kind = (typeof HINT_KINDS)[number]

/** What a read shows. One that is not here is read again every few seconds, as without hints. */
const KINDS: Readonly<Partial<Record<keyof Answers, readonly Kind[]>>> = {
  listJobs: ['jobs'],
  listDeadLetterGroups: ['jobs'],
  readJob: ['jobs'],
  listQueues: ['jobs', 'queues'],
  readQueue: ['jobs', 'queues'],
  readQueueState: ['jobs', 'queues', 'audit'],
  readQueueStatistics: ['jobs'],
  readStatistics: ['jobs'],
  listCrons: ['jobs', 'crons'],
  readCron: ['jobs', 'crons'],
  listCronRuns: ['jobs', 'crons'],
  listAlerts: ['alerts'],
  readAlert: ['alerts'],
  countAlerts: ['alerts'],
  listIssues: ['jobs'],
  readIssue: ['jobs'],
  listAuditRecords: ['audit'],
  listWindows: ['settings'],
  readWindow: ['settings'],
  readWindowOpenings: ['settings'],
  readTeam: ['jobs', 'settings'],
  listTokens: ['settings'],
  listSigningSecrets: ['settings'],
}

/** What is kept up to date: not what a form was opened on, or a long search. */
export function isLive({ meta }: Pick<Query, 'meta'>): boolean {
  return meta?.['isLive'] === true
}

/** In a busy team something changes all the time: it is not read more often than this. */
const BETWEEN_MS = 3_000

export function isHinted(name: unknown): boolean {
  return typeof name === 'string' && Object.hasOwn(KINDS, name)
}

/** Reads again what hints are about: the first at once, further ones together after a while. */
export function createHints(
  queries: Pick<QueryClient, 'invalidateQueries'>,
  isPaused: () => boolean,
): (kinds: readonly string[]) => void {
  const waiting = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | null = null
  const readAgain = (): void => {
    timer = null
    if (waiting.size === 0 || isPaused()) return
    const kinds = new Set(waiting)
    waiting.clear()
    const predicate = (query: Query): boolean => {
      const {
        queryKey: [name],
        state,
      } = query
      const about = (KINDS[name as keyof Answers] ?? []).filter((kind) => kinds.has(kind))
      if (!isLive(query) || about.length === 0) return false
      // It may have been read before the change. To begin again with each hint would never end, so it has another turn.
      if (state.fetchStatus !== 'idle') for (const kind of about) waiting.add(kind)
      return true
    }
    void queries.invalidateQueries({ predicate }, { cancelRefetch: false })
    timer = setTimeout(readAgain, BETWEEN_MS)
  }
  return (kinds) => {
    for (const kind of kinds) waiting.add(kind)
    if (timer === null) readAgain()
  }
}
