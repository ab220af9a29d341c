import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Queue } from '../../../../clients/typescript/src/client.ts'
import { isAbsent } from '../../format/faults.ts'
import { useMay } from '../../session/me.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ManagedBadge, ManagedNote, ManifestDialog } from '../../editing/managed.tsx'
import { whyNoEdit } from '../../editing/managed-text.ts'
import { Fact, Facts, Page, Panel } from '../../ui/page/page.tsx'
import { PlaceholderPage } from '../../ui/page/placeholder-page.tsx'
import { QueueActions } from './queue-actions.tsx'
import { History, LiveFigures } from './queue-figures.tsx'
import { QueueState } from './queue-state.tsx'
import { SettingsDialog } from './settings/settings-form.tsx'
import { SETTINGS } from './settings/settings.ts'
import { Stops, useWindowsOver } from './stops/stops.tsx'
import { LastFailures } from './last-failures.tsx'
import { useUrlQuery } from '../../routing/url-query.ts'

const ALL = { label: 'Queues', href: at('/queues') }

/** One queue: whether it runs, what is in it, what happened in it, and its settings. */
export function QueuePage() {
  const id = useRoute().params['queue_id'] ?? ''
  const query = useRead('readQueue', { queue_id: id })
  const { data: queue, error } = query
  // While another queue is read, what is told is still that of the one before.
  if (queue !== undefined && String(queue.queue_id) === id && !isAbsent(error)) {
    return <QueueDetails key={id} queue={queue} />
  }
  return (
    <PlaceholderPage
      query={query}
      what="queue"
      icon="queue"
      all={ALL}
      why="It was never made, or it was deleted."
    />
  )
}

function QueueDetails({ queue }: { readonly queue: Queue }) {
  const { queue_id: id, name, managed_by: by } = queue
  const { data: state, dataUpdatedAt: readAtMs } = useRead('readQueueState', { queue_id: id })
  const { values, set } = useUrlQuery()
  const mayEdit = useMay('edit')
  const [isManifest, setIsManifest] = useState(false)
  const refusal = whyNoEdit(by)
  const windows = useWindowsOver(queue)
  const isHeld = queue.is_active && windows.some(({ action }) => action === 'hold')
  const shared = {
    whyNoEdit: refusal,
    onEdit: () => set({ edit: 'settings' }),
    onManifest: () => setIsManifest(true),
  }
  return (
    <Page
      title={name}
      crumbs={[ALL]}
      state={
        <>
          {isHeld ? <Badge tone="warn">Held</Badge> : <QueueState queue={queue} />}
          <ManagedBadge by={by} />
        </>
      }
      actions={<QueueActions queue={queue} {...shared} />}
    >
      <Stops queue={queue} state={state} windows={windows} />
      <LiveFigures queue={queue} state={state} readAtMs={readAtMs} />
      <History queue={queue} />
      <LastFailures queue={queue} />
      <Settings queue={queue} {...shared} />
      {values['edit'] === 'settings' && mayEdit && refusal === null && (
        <SettingsDialog queue={queue} onClose={() => set({ edit: null })} />
      )}
      {isManifest && <ManifestDialog kind="queue" id={id} onClose={() => setIsManifest(false)} />}
    </Page>
  )
}

function Settings({
  queue,
  whyNoEdit: refusal,
  onEdit,
  onManifest,
}: {
  readonly queue: Queue
  readonly whyNoEdit: string | null
  onEdit(): void
  onManifest(): void
}) {
  const mayEdit = useMay('edit')
  return (
    <Panel
      title="Settings"
      actions={
        mayEdit && (
          <Button icon="edit" disabled={refusal ?? false} onClick={onEdit}>
            Edit settings
          </Button>
        )
      }
    >
      <div class="stack">
        <ManagedNote by={queue.managed_by} onShow={onManifest} />
        <Facts>
          {SETTINGS.map(({ label, words }) => (
            <Fact key={label} name={label}>
              {words(queue)}
            </Fact>
          ))}
        </Facts>
      </div>
    </Panel>
  )
}
