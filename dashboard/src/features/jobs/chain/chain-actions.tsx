import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Job, ScheduledJob } from '../../../../../clients/typescript/src/client.ts'
import { useChange } from '../../../editing/changes.ts'
import { useMe } from '../../../session/me.ts'
import { at } from '../../../routing/paths.ts'
import { Button } from '../../../ui/button.tsx'
import type { IconName } from '../../../ui/icon.tsx'
import { Menu } from '../../../ui/overlays/menu.tsx'
import { ChangeJob } from '../send/change-job.tsx'
import { type ActionName, actionsOf } from './actions.ts'
import { Removal } from './removal.tsx'
import { openOf } from './timeline/plan.ts'

const ICONS: Readonly<Record<ActionName, IconName>> = {
  fire: 'fire',
  retry: 'retry',
  replay: 'retry',
  edit: 'edit',
  duplicate: 'copy',
  cancel: 'close',
  delete: 'trash',
  purge: 'trash',
}

/** The first that is possible as a button, all in a menu, where a reason says what the state or a right rules out. */
export function ChainActions({ job, nowMs }: { readonly job: Job; readonly nowMs: number }) {
  const { may } = useMe()
  const [asked, setAsked] = useState<'edit' | 'duplicate' | 'remove' | null>(null)
  const [original = job] = job.chain
  const open = openOf(job)
  const { fire, retry, replay } = useActs(original.job_id, open?.job_id ?? null)
  const actions = actionsOf(job, may, nowMs)
  const labels: Readonly<Record<ActionName, string>> = {
    fire: open !== undefined && open.attempt_number > 1 ? 'Retry now' : 'Fire now',
    retry: 'Retry',
    replay: 'Replay',
    edit: 'Edit and replay …',
    duplicate: 'Duplicate …',
    cancel: 'Cancel the job …',
    delete: 'Delete the job …',
    purge: 'Purge the dead letter …',
  }
  const run: Readonly<Record<ActionName, () => void>> = {
    fire: () => fire.mutate(undefined),
    retry: () => retry.mutate(undefined),
    replay: () => replay.mutate(undefined),
    edit: () => setAsked('edit'),
    duplicate: () => setAsked('duplicate'),
    cancel: () => setAsked('remove'),
    delete: () => setAsked('remove'),
    purge: () => setAsked('remove'),
  }
  const [first] = actions
  if (first === undefined) return null
  const isBusy = fire.isPending || retry.isPending || replay.isPending
  return (
    <>
      {first.refusal === null && (
        <Button look="main" icon={ICONS[first.name]} isBusy={isBusy} onClick={run[first.name]}>
          {labels[first.name]}
        </Button>
      )}
      <Menu
        label="Actions"
        items={actions.map(({ name, refusal }) => ({
          label: labels[name],
          icon: ICONS[name],
          disabled: refusal ?? false,
          run: run[name],
          ...(['cancel', 'delete', 'purge'].includes(name) && { look: 'bad' as const }),
        }))}
      >
        Actions
      </Menu>
      {(asked === 'edit' || asked === 'duplicate') && (
        <ChangeJob
          jobId={original.job_id}
          kind={asked === 'edit' ? 'replay' : 'duplicate'}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === 'remove' && <Removal job={job} onClose={() => setAsked(null)} />}
    </>
  )
}

/** What is done at once; a new job is shown next. */
function useActs(originalId: number, openId: number | null) {
  const { route } = useLocation()
  const toNew = (done: string) => ({
    said: ({ job_id: id }: ScheduledJob) => `Job ${originalId} ${done} as job ${id}`,
    onDone: ({ job_id: id }: ScheduledJob) => route(at(`/jobs/${id}`)),
  })
  const fire = useChange((api) => api.fireJob({ job_id: openId ?? originalId }), {
    said: () => `Job ${originalId} is due now`,
  })
  const retry = useChange((api) => api.retryJob({ job_id: originalId }), toNew('retried'))
  const replay = useChange((api) => api.replayJob({ job_id: originalId, body: {} }), toNew('replayed'))
  return { fire, retry, replay }
}
