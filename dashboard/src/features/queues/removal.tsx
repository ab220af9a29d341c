import { useLocation } from 'preact-iso'
import type { Queue } from '../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../editing/changes.ts'
import { at } from '../../routing/paths.ts'
import { isTypable } from '../../format/match.ts'
import { plural } from '../../format/numbers.ts'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { managerText } from '../../editing/managed-text.ts'
import { showToast } from '../../ui/overlays/toast.tsx'

interface RemovalProps {
  readonly queue: Queue
  onClose(): void
}

/** What has to be typed. */
function typedFor({ name, queue_id: id }: Queue): string {
  return isTypable(name) ? name : `queue ${id}`
}

/** Asks before all dead letters of a queue are removed for good. */
export function Purge({ queue, onClose }: RemovalProps) {
  const { queue_id: id, name, counts } = queue
  const purge = useChange((api) => api.purgeQueue({ queue_id: id }), {
    onDone: (bulk) => {
      showToast({
        tone: 'good',
        text: `Purging ${plural(bulk.matched, 'dead letter')} of “${name}”`,
        action: { label: 'Show how far it is', href: at(`/bulk/${bulk.id}`) },
      })
      onClose()
    },
    isFaultShown: true,
  })
  return (
    <Confirm
      title={`Purge the dead letters of ${name}?`}
      verb={`Purge ${plural(counts.dead, 'dead letter')}`}
      typed={typedFor(queue)}
      {...confirming(purge)}
      onClose={onClose}
    >
      <p>They are removed for good and can never be replayed.</p>
    </Confirm>
  )
}

/** Asks before a queue goes with all its jobs. */
export function Removal({ queue, onClose }: RemovalProps) {
  const { route } = useLocation()
  const { queue_id: id, name, counts, managed_by: by } = queue
  const open = counts.pending + counts.delayed + counts.processing
  const remove = useChange((api) => api.deleteQueue({ queue_id: id }), {
    said: () => `Queue “${name}” deleted`,
    onDone: () => route(at('/queues')),
    isFaultShown: true,
  })
  return (
    <Confirm
      title={`Delete ${name}?`}
      verb={`Delete the queue and ${plural(open + counts.dead, 'job')}`}
      typed={typedFor(queue)}
      {...confirming(remove)}
      onClose={onClose}
    >
      <p>
        The queue goes with its settings, {plural(open, 'job that has not ended', 'jobs that have not ended')}
        , {plural(counts.dead, 'dead letter')} and all that is kept of ended jobs. It cannot be undone. Calls
        in flight go on, but nobody keeps what comes of them.
      </p>
      <p class="soft">
        The next push to its name makes a new queue with the settings of a new one.
        {by !== null && ` ${managerText(by)} manages it and may make it again.`}
      </p>
    </Confirm>
  )
}
