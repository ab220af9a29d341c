import type { Query, QueryClient } from '@tanstack/preact-query'
import type { Answers } from '../../../clients/typescript/src/client.ts'

/** Kinds of things that the server says have changed. */
type Kind = 'jobs' | 'queues' | 'crons' | 'alerts' | 'settings' | 'audit'

/** What a read shows. One that is not here is read again every few seconds, as without hints. */
const KINDS: Readonly<Partial<Record<keyof Answers, readonly Kind[]>>> = {
  listJobs: ['jobs'],
  listDeadLetterGroups: ['jobs'],
  readJob: ['jobs'],
  listQueues: ['jobs', 'queues'],
  readQueue: ['jobs', 'queues'],
  readQueueStatistics: ['jobs'],
  readStatistics: ['jobs'],
  listCrons: ['jobs', 'crons'],
  readCron: ['jobs', 'crons'],
  listCronRuns: ['jobs', 'crons'],
  listAlerts: ['alerts'],
  readAlert: ['alerts'],
  countAlerts: ['alerts'],
  listAuditRecords: ['audit'],
  listWindows: ['settings'],
  readWindow: ['settings'],
  readTeam: ['jobs', 'settings'],
  listTokens: ['settings'],
  listSigningSecrets: ['settings'],
}

/** In a busy team something changes all the time: it is not read more often than this. */
const BETWEEN_MS = 3_000

export function isHinted(name: unknown): boolean {
  return typeof name === 'string' && Object.hasOwn(KINDS, name)
}

/** Reads again what hints are about: the first at once, further ones together after a while. */
export function createHints(
  queries: QueryClient,
  isPaused: () => boolean,
): (kinds: readonly string[]) => void {
  const waiting = new Set<string>()
  let timer: number | null = null
  const readAgain = (): void => {
    timer = null
    if (waiting.size === 0 || isPaused()) return
    const kinds = new Set(waiting)
    waiting.clear()
    const predicate = ({ queryKey: [name], meta }: Query): boolean =>
      meta?.['isLive'] === true && isAbout(name, kinds)
    // What is being read may be slow: to begin again with each hint would never end.
    void queries.invalidateQueries({ predicate }, { cancelRefetch: false })
    timer = window.setTimeout(readAgain, BETWEEN_MS)
  }
  return (kinds) => {
    for (const kind of kinds) waiting.add(kind)
    if (timer === null) readAgain()
  }
}

function isAbout(name: unknown, kinds: ReadonlySet<string>): boolean {
  return (KINDS[name as keyof Answers] ?? []).some((kind) => kinds.has(kind))
}
