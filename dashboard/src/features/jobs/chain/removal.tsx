import { useLocation } from 'preact-iso'
import type { Job } from '../../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../../editing/changes.ts'
import { at } from '../../../routing/paths.ts'
import { plural } from '../../../format/numbers.ts'
import { Confirm } from '../../../ui/overlays/dialog.tsx'
import { openOf } from './timeline/plan.ts'

/**
 * Asks before a chain is removed for good. A job that waits for its first attempt is cancelled, which fails when it may have
 * been sent; then it can be removed all the same.
 */
export function Removal({ job, onClose }: { readonly job: Job; onClose(): void }) {
  const { route } = useLocation()
  const [original = job] = job.chain
  const open = openOf(job)
  const id = original.job_id
  const { verb, done } = wordsOf(original.final_status === 'dead_lettered', open !== undefined)
  const onDone = () => route(at('/jobs'))
  const cancel = useChange((api) => api.cancelJob({ job_id: id }), {
    said: () => `Job ${id} cancelled; it was never sent`,
    onDone,
    isFaultShown: true,
  })
  const remove = useChange((api) => api.deleteJob({ job_id: open?.job_id ?? id }), {
    said: () => `Job ${id} ${done}`,
    onDone,
    isFaultShown: true,
  })
  const isFirst = open?.attempt_number === 1
  // It still waits, so it may have been sent before.
  const isRefused = isFirst && open.status === 'pending' && cancel.error !== null && !cancel.isPending
  const change = isFirst && !isRefused ? cancel : remove
  return (
    <Confirm
      title={`${verb} job ${id}?`}
      verb={isRefused ? 'Remove 1 job all the same' : `${verb} 1 job`}
      {...confirming(change)}
      fault={change.error ?? cancel.error}
      onClose={onClose}
    >
      <p>
        {open === undefined
          ? `The job with ${plural(job.chain.length, 'attempt')} and what is kept of them is removed for good.`
          : isFirst
            ? 'It is removed, unless it has been sent, and what was pushed is lost.'
            : 'It has been sent before. It is removed before it is sent again, and what was pushed is lost.'}{' '}
        It cannot be undone.
      </p>
    </Confirm>
  )
}

function wordsOf(isDead: boolean, isOpen: boolean): { readonly verb: string; readonly done: string } {
  if (isOpen) return { verb: 'Cancel', done: 'cancelled' }
  return isDead ? { verb: 'Purge', done: 'purged' } : { verb: 'Delete', done: 'deleted' }
}
