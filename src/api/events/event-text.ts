import { LIVE_KINDS, type LiveFigures, type LiveKind } from '../../ports/live/live.ts'

/** How long a page waits before it comes again, unless it knows better. */
const RETRY_MS = 3_000

export const OPENING = `retry: ${RETRY_MS}\n\n`
/** Keeps proxies from taking the stream for a dead connection. */
export const HEARTBEAT = ':\n\n'
/** The store does not answer: what the page shows is getting old. */
export const AWAY = eventOf('away', {})

export function figuresEvent(figures: LiveFigures): string {
  const { pending, inFlight, startable, stopped, oldestStartable: oldest, unreadAlerts } = figures
  return eventOf('figures', {
    pending,
    in_flight: inFlight,
    startable,
    stopped,
    oldest_startable_seconds: oldest === null ? null : Math.floor(oldest.ageMs / 1_000),
    oldest_queue: oldest?.queue ? { queue_id: oldest.queue.id, name: oldest.queue.name } : null,
    unread_alerts: unreadAlerts,
  })
}

export function changedEvent(changed: ReadonlySet<LiveKind>): string {
  return eventOf('changed', { kinds: LIVE_KINDS.filter((kind) => changed.has(kind)) })
}

function eventOf(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
