import type { ResourceEvent } from '../ports/event-recorder.ts'
import type { HttpQueueStatus } from '../resources/generated/kinds.ts'
import { refOf, type HttpQueue } from './kinds.ts'

/** What people look for in `kubectl describe`. An engine that is away has none: it would be one for every queue. */
const TOLD: ReadonlySet<string> = new Set(['InvalidSpec', 'NameTaken'])

/** Events of a status that is written: of trouble that begins, and of its end. */
export function queueEvents(queue: HttpQueue, after: HttpQueueStatus): readonly ResourceEvent[] {
  const former = readyOf(queue.status)
  const now = readyOf(after)
  if (now === undefined || now.reason === former?.reason) return []
  const isTrouble = TOLD.has(now.reason)
  const isOver = now.reason === 'Reconciled' && former !== undefined && TOLD.has(former.reason)
  if (!isTrouble && !isOver) return []
  const { reason, message: note } = now
  return [
    { regarding: refOf(queue), type: isTrouble ? 'Warning' : 'Normal', reason, action: 'ApplyQueue', note },
  ]
}

function readyOf(status: HttpQueueStatus | undefined) {
  return status?.conditions?.find(({ type }) => type === 'Ready')
}
