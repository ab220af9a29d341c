import { useState } from 'preact/hooks'
import type { Me, Queue } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../editing/changes.ts'
import { useMe } from '../../session/me.ts'
import { at } from '../../routing/paths.ts'
import { plural } from '../../format/numbers.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuItem } from '../../ui/overlays/menu.tsx'
import { Purge, Removal } from './removal.tsx'
import { Stopping } from './stopping.tsx'
import { useMuteItems } from '../alerts/mute.tsx'

type Asked = 'pause' | 'drain' | 'purge' | 'delete'

export interface QueueActionsProps {
  readonly queue: Queue
  onEdit(): void
  onManifest(): void
  /** Why its settings are not to be edited here; null = they may. */
  readonly whyNoEdit: string | null
}

/** What can be done with a queue: what it needs most as a button, all in a menu. */
export function QueueActions(props: QueueActionsProps) {
  const { queue } = props
  const { may } = useMe()
  const [asked, setAsked] = useState<Asked | null>(null)
  const close = (): void => setAsked(null)
  const resume = useChange((api) => api.resumeQueue({ queue_id: queue.queue_id }), {
    said: () => `Queue “${queue.name}” resumed`,
  })
  const muteItems = useMuteItems()
  const mute = may.operate ? muteItems({ kind: 'queue', id: queue.queue_id, name: queue.name }) : []
  const isStopped = !queue.is_active || queue.is_draining
  return (
    <>
      {may.operate && isStopped && (
        <Button look="main" icon="play" isBusy={resume.isPending} onClick={() => resume.mutate(undefined)}>
          Resume the queue
        </Button>
      )}
      {may.operate && !isStopped && (
        <Button icon="pause" onClick={() => setAsked('pause')}>
          Pause the queue
        </Button>
      )}
      <Menu
        label="Actions"
        items={[...itemsOf(props, may, setAsked), ...mute, ...lossesOf(queue, may, setAsked)]}
      >
        Actions
      </Menu>
      {(asked === 'pause' || asked === 'drain') && <Stopping queue={queue} kind={asked} onClose={close} />}
      {asked === 'purge' && <Purge queue={queue} onClose={close} />}
      {asked === 'delete' && <Removal queue={queue} onClose={close} />}
    </>
  )
}

function no(right: string): string {
  return `It needs the permission to ${right}, which you do not have.`
}

function itemsOf(
  { queue, onEdit, onManifest, whyNoEdit }: QueueActionsProps,
  may: Me['may'],
  ask: (asked: Asked) => void,
): readonly MenuItem[] {
  const { name, is_draining: isDraining } = queue
  const operating = may.operate ? false : no('operate')
  return [
    {
      label: 'Edit settings …',
      icon: 'edit',
      disabled: may.edit ? (whyNoEdit ?? false) : no('edit'),
      run: onEdit,
    },
    ...(isDraining && queue.is_active
      ? [{ label: 'Pause the queue …', icon: 'pause', disabled: operating, run: () => ask('pause') } as const]
      : []),
    {
      label: 'Drain the queue …',
      icon: 'down',
      run: () => ask('drain'),
      disabled: operating !== false ? operating : isDraining && 'It drains already.',
    },
    ...(may.push
      ? [{ label: 'Send a job to it', icon: 'send', href: at('/send', { queue: name }) } as const]
      : []),
    { label: 'Show as YAML', icon: 'git', run: onManifest },
    ...(may.operate
      ? [
          {
            label: 'Its changes in the audit log',
            icon: 'audit',
            href: at('/audit', { resource_kind: 'queue', resource: name }),
          } as const,
        ]
      : []),
  ]
}

/** What cannot be undone, below all else. */
function lossesOf({ counts }: Queue, may: Me['may'], ask: (asked: Asked) => void): readonly MenuItem[] {
  const purging = may.purge ? counts.dead === 0 && 'It has no dead letters.' : no('purge')
  return [
    {
      label: `Purge ${plural(counts.dead, 'dead letter')} …`,
      icon: 'trash',
      look: 'bad',
      disabled: purging,
      run: () => ask('purge'),
    },
    {
      label: 'Delete the queue …',
      icon: 'trash',
      look: 'bad',
      disabled: may.edit ? false : no('edit'),
      run: () => ask('delete'),
    },
  ]
}
