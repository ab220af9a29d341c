import type { Queue } from '../../../../clients/typescript/src/client.ts'
import { Badge } from '../../ui/badge.tsx'

/** Whether its jobs start, in one word. */
export function QueueState({ queue }: { readonly queue: Queue }) {
  if (!queue.is_active) return <Badge tone="warn">Paused</Badge>
  if (queue.is_draining) return <Badge tone="dead">Draining</Badge>
  const { processing, pending } = queue.counts
  if (queue.max_parallelism !== null && processing >= queue.max_parallelism && pending > 0) {
    return <Badge tone="busy">At its limit</Badge>
  }
  return processing > 0 ? <Badge tone="busy">Running</Badge> : <Badge tone="good">Idle</Badge>
}
