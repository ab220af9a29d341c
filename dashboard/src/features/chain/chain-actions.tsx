import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Job, ScheduledJob } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../api/changes.ts'
import { useMay } from '../../api/me.ts'
import { at } from '../../app/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'

/** What can be done with the chain as it is; what its state rules out is not offered. */
export function ChainActions({ job }: { readonly job: Job }) {
  const { route } = useLocation()
  const [isDeleting, setIsDeleting] = useState(false)
  const mayOperate = useMay('operate')
  const mayPurge = useMay('purge')
  const [original = job] = job.chain
  const open = job.chain.find(({ status }) => status === 'pending' || status === 'processing')
  const toNew = { onDone: ({ job_id: id }: ScheduledJob) => route(at(`/jobs/${id}`)) }
  const fire = useChange((api) => api.fireJob({ job_id: open?.job_id ?? 0 }), { said: () => 'It is due now' })
  const retry = useChange((api) => api.retryJob({ job_id: original.job_id }), {
    said: ({ job_id: id }) => `Retried as job ${id}`,
    ...toNew,
  })
  const replay = useChange((api) => api.replayJob({ job_id: original.job_id, body: {} }), {
    said: ({ job_id: id }) => `Replayed as job ${id}`,
    ...toNew,
  })
  const remove = useChange((api) => api.deleteJob({ job_id: open?.job_id ?? original.job_id }), {
    said: () => `Job ${original.job_id} deleted`,
    onDone: () => route(at('/jobs')),
    isFaultShown: true,
  })
  if (!mayOperate) return null
  const isDead = original.final_status === 'dead_lettered' && original.replayed_as === null
  const isFailed = open === undefined && original.final_status !== 'success' && original.replayed_as === null
  const mayDelete = isDead ? mayPurge : true
  return (
    <>
      {open?.status === 'pending' && (
        <Button icon="fire" isBusy={fire.isPending} onClick={() => fire.mutate(undefined)}>
          Fire now
        </Button>
      )}
      {isDead && (
        <Button look="main" icon="retry" isBusy={replay.isPending} onClick={() => replay.mutate(undefined)}>
          Replay
        </Button>
      )}
      {isFailed && !isDead && (
        <Button look="main" icon="retry" isBusy={retry.isPending} onClick={() => retry.mutate(undefined)}>
          Retry
        </Button>
      )}
      {open?.status !== 'processing' && mayDelete && (
        <Button icon="trash" onClick={() => setIsDeleting(true)}>
          {open === undefined ? 'Delete' : 'Cancel'}
        </Button>
      )}
      {isDeleting && (
        <Confirm
          title={open === undefined ? `Delete job ${original.job_id}?` : `Cancel job ${original.job_id}?`}
          verb={open === undefined ? 'Delete the job' : 'Cancel the job'}
          isBusy={remove.isPending}
          fault={remove.error}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            {open === undefined
              ? 'The chain with all its attempts and records is removed for good.'
              : 'It is removed before it starts. What was pushed is lost.'}
          </p>
        </Confirm>
      )}
    </>
  )
}
