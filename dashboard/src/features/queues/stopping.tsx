import { useState } from 'preact/hooks'
import type { Queue } from '../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../editing/changes.ts'
import { plural } from '../../format/numbers.ts'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { mistakesOf, TextField } from '../../ui/forms/field.tsx'
import { managerText } from '../../editing/managed-text.ts'

/** Asks why before a queue is paused or drained. */
export function Stopping({
  queue: { queue_id: id, name, counts, managed_by: by },
  kind,
  onClose,
}: {
  readonly queue: Queue
  readonly kind: 'pause' | 'drain'
  onClose(): void
}) {
  const [reason, setReason] = useState('')
  const isPause = kind === 'pause'
  const body = reason.trim() === '' ? {} : { reason: reason.trim() }
  const stop = useChange(
    (api) => (isPause ? api.pauseQueue({ queue_id: id, body }) : api.drainQueue({ queue_id: id, body })),
    {
      said: () => `Queue “${name}” ${isPause ? 'paused' : 'drains'}`,
      onDone: onClose,
      isFaultShown: true,
    },
  )
  const waiting = counts.pending + counts.delayed
  return (
    <Confirm
      title={`${isPause ? 'Pause' : 'Drain'} ${name}?`}
      verb={`${isPause ? 'Pause' : 'Drain'} 1 queue`}
      look="main"
      {...confirming(stop)}
      onClose={onClose}
    >
      <p>
        {isPause
          ? `No job of it starts until somebody resumes it: ${plural(waiting, 'job waits', 'jobs wait')}. ${plural(counts.processing, 'call')} in flight will end.`
          : `It takes no new jobs until somebody resumes it: pushes are refused, and ticks of its crons are skipped. ${plural(waiting + counts.processing, 'job that it has goes', 'jobs that it has go')} on.`}
      </p>
      {by !== null && <p class="soft">{managerText(by)} manages it and may undo this.</p>}
      <TextField
        label="Why"
        placeholder="The mail server is down."
        hint="For those who look at the queue, and for the audit log."
        mistakes={mistakesOf(stop.error, 'reason')}
        value={reason}
        onChange={setReason}
      />
    </Confirm>
  )
}
