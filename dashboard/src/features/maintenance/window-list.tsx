import { useState } from 'preact/hooks'
import type { MaintenanceWindow } from '../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../editing/changes.ts'
import { textOf } from '../../format/values/known-values.ts'
import { useMay } from '../../session/me.ts'
import { at } from '../../routing/paths.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { clockText, subjectOf, timesText } from './window-text.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { Menu } from '../../ui/overlays/menu.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time, useZone } from '../../ui/text/time.tsx'
import { Verbatim } from '../../ui/text/verbatim.tsx'
import { visible } from '../../format/visible.ts'

/** The windows of the team: those that are active first, then by when they open. */
export function WindowList({ windows }: { readonly windows: readonly MaintenanceWindow[] }) {
  const zone = useZone()
  const mayOperate = useMay('operate')
  const { values } = useUrlQuery()
  const hrefOf = ({ id }: MaintenanceWindow): string => at('/maintenance', { ...values, window: id })
  const [deleting, setDeleting] = useState<MaintenanceWindow | null>(null)
  const end = useChange(
    (api, { id }: MaintenanceWindow) =>
      api.editWindow({ window_id: id, body: { end_at: new Date().toISOString() } }),
    { said: ({ id }) => `Window ${id} has ended` },
  )
  const columns: ReadonlyArray<Column<MaintenanceWindow>> = [
    { head: 'Window', isWide: true, cell: Name },
    { head: 'State', cell: (window) => <State window={window} zone={zone} /> },
    { head: 'When', isExtra: true, cell: (window) => timesText(window, zone) },
  ]
  const actions: Column<MaintenanceWindow> = {
    head: 'Actions',
    align: 'end',
    cell: (window) => (
      <Menu
        label={`Actions for ${window.id}`}
        items={[
          { label: 'Edit', icon: 'edit', href: hrefOf(window) },
          ...(window.active && window.recurring === null
            ? [{ label: 'End it now', icon: 'stop' as const, run: () => end.mutate(window) }]
            : []),
          { label: 'Delete', icon: 'trash', look: 'bad', run: () => setDeleting(window) },
        ]}
      />
    ),
  }
  return (
    <>
      <Table
        caption="Maintenance windows"
        rows={windows.toSorted((a, b) => turnOf(a) - turnOf(b))}
        columns={mayOperate ? [...columns, actions] : columns}
        keyOf={({ id }) => id}
        {...(mayOperate && { hrefOf })}
      />
      {deleting !== null && <Deletion window={deleting} onClose={() => setDeleting(null)} />}
    </>
  )
}

function Name(window: MaintenanceWindow) {
  const { id, action, reason } = window
  const effect = `${textOf({ mute: 'Mutes', hold: 'Holds' }, action)} ${subjectOf(window) ?? 'the whole team'}`
  return (
    <span class="window-name">
      <span>{id}</span>
      <span class="soft" title={reason === null ? undefined : visible(reason)}>
        <Verbatim text={effect} />
        {reason !== null && (
          <>
            {' · '}
            <Verbatim text={reason} />
          </>
        )}
      </span>
    </span>
  )
}

function turnOf({ active, next_start_at: next }: MaintenanceWindow): number {
  if (active) return 0
  return next === null ? Number.MAX_VALUE : Date.parse(next)
}

function State({ window, zone }: { readonly window: MaintenanceWindow; readonly zone: string }) {
  const { active, action, ends_at: end, next_start_at: next, problem } = window
  if (active) {
    const until = end === null ? '' : ` until ${clockText(Date.parse(end), Date.now(), zone)}`
    return <Badge tone={action === 'hold' ? 'warn' : 'busy'}>Active{until}</Badge>
  }
  if (next === null && problem !== null) {
    return (
      <span title={problem}>
        <Badge tone="bad">Never opens</Badge>
      </span>
    )
  }
  return next === null ? (
    <Badge tone="plain">Over</Badge>
  ) : (
    <>
      Opens <Time at={next} form="relative" />
    </>
  )
}

function Deletion({ window, onClose }: { readonly window: MaintenanceWindow; onClose(): void }) {
  const { id, active, action } = window
  const remove = useChange((api) => api.deleteWindow({ window_id: id }), {
    said: () => `Window ${id} deleted`,
    onDone: onClose,
    isFaultShown: true,
  })
  return (
    <Confirm
      title={`Delete the window ${id}?`}
      verb="Delete the window"
      {...confirming(remove)}
      onClose={onClose}
    >
      <p>
        {active
          ? `It is active: from then on alerts are sent again${action === 'hold' ? ', and the jobs that wait start within seconds' : ''}.`
          : 'It will not open any more.'}
      </p>
    </Confirm>
  )
}
