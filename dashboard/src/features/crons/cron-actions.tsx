import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Cron, CronSummary } from '../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../editing/changes.ts'
import { useMay } from '../../session/me.ts'
import { at } from '../../routing/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { whyNoEdit } from '../../editing/managed-text.ts'
import { Menu, type MenuItem } from '../../ui/overlays/menu.tsx'
import { showToast } from '../../ui/overlays/toast.tsx'

type Told = Pick<CronSummary, 'id' | 'name' | 'is_active'>

interface AtOnce {
  readonly label: string
  readonly icon: 'fire' | 'pause' | 'play'
  readonly isBusy: boolean
  run(): void
}

/** What can be done to a cron at once: to run it, and to pause or resume it. */
function useAtOnce(cron: Told): readonly [AtOnce, AtOnce] {
  const { id, name, is_active: isActive } = cron
  const run = useChange((api) => api.runCron({ cron_id: id }), {
    onDone: ({ job_id: job }) =>
      showToast({
        tone: 'good',
        text: `“${name}” runs now`,
        action: { label: 'Show it', href: at(`/jobs/${job}`) },
      }),
  })
  const turn = useChange(
    (api): Promise<Cron> => (isActive ? api.pauseCron({ cron_id: id }) : api.resumeCron({ cron_id: id })),
    { said: ({ is_active: ticks }) => `“${name}” ${ticks ? 'ticks again' : 'is paused'}` },
  )
  return [
    { label: 'Run now', icon: 'fire', isBusy: run.isPending, run: () => run.mutate(undefined) },
    {
      ...(isActive
        ? ({ label: 'Pause', icon: 'pause' } as const)
        : ({ label: 'Resume', icon: 'play' } as const)),
      isBusy: turn.isPending,
      run: () => turn.mutate(undefined),
    },
  ]
}

/** The actions for a cron in a list. */
export function CronMenu({ cron }: { readonly cron: CronSummary }) {
  return <Menu label={`Actions for ${cron.name}`} items={useAtOnce(cron)} />
}

/** The actions on the page of a cron. */
export function CronButtons({
  cron,
  onEdit,
  onShow,
}: {
  readonly cron: Cron
  onEdit(): void
  onShow(): void
}) {
  const atOnce = useAtOnce(cron)
  const [isDeleting, setIsDeleting] = useState(false)
  const mayEdit = useMay('edit')
  const reason = whyNoEdit(cron.managed_by) ?? false
  const deletion: MenuItem = {
    label: 'Delete',
    icon: 'trash',
    look: 'bad',
    disabled: reason,
    run: () => setIsDeleting(true),
  }
  if (!useMay('operate')) return null
  return (
    <>
      {atOnce.map(({ label, icon, isBusy, run }) => (
        <Button
          key={icon}
          look={icon === 'fire' ? 'main' : 'plain'}
          icon={icon}
          isBusy={isBusy}
          onClick={run}
        >
          {label}
        </Button>
      ))}
      {mayEdit && (
        <Button disabled={reason} onClick={onEdit}>
          Edit
        </Button>
      )}
      <Menu
        label="More actions"
        items={[{ label: 'Show as YAML', icon: 'git', run: onShow }, ...(mayEdit ? [deletion] : [])]}
      />
      {isDeleting && <Deletion cron={cron} onClose={() => setIsDeleting(false)} />}
    </>
  )
}

function Deletion({ cron, onClose }: { readonly cron: Cron; onClose(): void }) {
  const { route } = useLocation()
  const remove = useChange((api) => api.deleteCron({ cron_id: cron.id }), {
    said: () => `“${cron.name}” deleted`,
    onDone: () => route(at('/crons')),
    isFaultShown: true,
  })
  return (
    <Confirm
      title={`Delete “${cron.name}”?`}
      verb="Delete the cron"
      {...confirming(remove)}
      onClose={onClose}
    >
      <p>
        It ticks no more, and the records of its ticks are deleted. Runs in flight end normally, and the jobs
        of its runs stay as long as others do.
      </p>
    </Confirm>
  )
}
