import type { Alert } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../editing/changes.ts'
import { at } from '../../routing/paths.ts'
import { formatStamp } from '../../format/times.ts'
import type { MenuItem } from '../../ui/overlays/menu.tsx'
import { useZone } from '../../ui/text/time.tsx'
import { showToast } from '../../ui/overlays/toast.tsx'
import { subjectOf } from './alert-text.ts'

const HOUR_MS = 3_600_000
const SPANS = [
  { hours: 1, label: '1 hour' },
  { hours: 8, label: '8 hours' },
  { hours: 24, label: '24 hours' },
]

interface Asked {
  readonly resource: Alert['resource']
  readonly hours: number
}

/** Choices of a menu, each of which makes a maintenance window that mutes a queue, a cron or the team. */
export function useMuteItems(): (resource: Alert['resource']) => MenuItem[] {
  const zone = useZone()
  const mute = useChange(
    (api, { resource: { kind, id }, hours }: Asked) => {
      const nowMs = Date.now()
      return api.createWindow({
        body: {
          resource: kind === 'team' || id === null ? null : { kind, id },
          start_at: new Date(nowMs).toISOString(),
          end_at: new Date(nowMs + hours * HOUR_MS).toISOString(),
          action: 'mute',
          reason: 'Muted by hand',
        },
      })
    },
    {
      onDone: ({ end_at: end, name }, { resource }) =>
        showToast({
          tone: 'good',
          text: `Alerts of ${subjectOf(resource)} are not sent until ${formatStamp(Date.parse(end ?? ''), zone).slice(0, 16)}`,
          action: { label: 'The window', href: at('/maintenance', { window: name }) },
        }),
    },
  )
  return (resource) => {
    const { kind, id } = resource
    const other = kind === 'team' || id === null ? {} : { resource: `${kind}/${id}` }
    return [
      ...SPANS.map(({ hours, label }) => ({
        label: `Mute ${kind === 'team' ? 'the whole team' : subjectOf(resource)} for ${label}`,
        icon: 'window' as const,
        run: () => mute.mutate({ resource, hours }),
      })),
      { label: 'Another window …', icon: 'window', href: at('/maintenance', { new: 'mute', ...other }) },
    ]
  }
}
