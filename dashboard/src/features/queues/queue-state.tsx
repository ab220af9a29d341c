import type { Queue, QueueRow } from '../../../../clients/typescript/src/client.ts'
import { Badge } from '../../ui/text/badge.tsx'
import './settings/settings.css'
import { throttleOf } from './stops/stop-words.ts'
import { isSlowed, NextTry } from './stops/throttle.tsx'

/**
 * Why its jobs do not just start, in one word; of one that is throttled, when the next one does. Nothing where they do.
 * @param stopped its ready jobs that something keeps, where they are known
 */
export function QueueState({
  queue,
  stopped = null,
}: {
  readonly queue: Queue
  readonly stopped?: QueueRow['stopped']
}) {
  const { throttled } = queue
  if (!queue.is_active) return <Badge tone="warn">Paused</Badge>
  if (stopped?.reason === 'held') return <Badge tone="warn">Held</Badge>
  if (throttled !== null && isSlowed(queue)) {
    const { tone, label, verb } = throttleOf(throttled.reason)
    return (
      <>
        <Badge tone={tone}>{label}</Badge>{' '}
        <span class="soft queue-next">
          {verb} <NextTry at={throttled.until} />
        </span>
      </>
    )
  }
  if (queue.is_draining) return <Badge tone="dead">Draining</Badge>
  const { processing, pending } = queue.counts
  const isFull = queue.max_parallelism !== null && processing >= queue.max_parallelism && pending > 0
  return isFull ? <Badge tone="busy">At its limit</Badge> : null
}
