import { useLocation } from 'preact-iso'
import type { Job } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../api/changes.ts'
import { at } from '../../app/paths.ts'
import { plural } from '../../format/numbers.ts'
import { Confirm } from '../../ui/dialog.tsx'

/** Asks before a chain is removed for good. */
export function Removal({ job, onClose }: { readonly job: Job; onClose(): void }) {
  const { route } = useLocation()
  const [original = job] = job.chain
  const open = job.chain.find(({ status }) => status === 'pending' || status === 'processing')
  const id = original.job_id
  const { verb, done } = wordsOf(original.final_status === 'dead_lettered', open !== undefined)
  const remove = useChange((api) => api.deleteJob({ job_id: open?.job_id ?? id }), {
    said: () => `Job ${id} ${done}`,
    onDone: () => route(at('/jobs')),
    isFaultShown: true,
  })
  return (
    <Confirm
      title={`${verb} job ${id}?`}
      verb={`${verb} 1 job`}
      isBusy={remove.isPending}
      fault={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onClose={onClose}
    >
      <p>
        {open === undefined
          ? `The job with ${plural(job.chain.length, 'attempt')} and what is kept of them is removed for good.`
          : 'It is removed before it starts, and what was pushed is lost.'}{' '}
        It cannot be undone.
      </p>
    </Confirm>
  )
}

function wordsOf(isDead: boolean, isOpen: boolean): { readonly verb: string; readonly done: string } {
  if (isOpen) return { verb: 'Cancel', done: 'cancelled' }
  return isDead ? { verb: 'Purge', done: 'purged' } : { verb: 'Delete', done: 'deleted' }
}
