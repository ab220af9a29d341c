import { useLocation } from 'preact-iso'
import { useRead } from '../api/reads.ts'
import { formatCompact } from '../format/numbers.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { at } from '../routing/paths.ts'

export interface Place {
  readonly label: string
  readonly path: string
  readonly icon: IconName
}

export const PLACES: ReadonlyArray<{ readonly group: string; readonly places: readonly Place[] }> = [
  {
    group: 'See',
    places: [
      { label: 'Overview', path: '/', icon: 'overview' },
      { label: 'Jobs', path: '/jobs', icon: 'jobs' },
      { label: 'Queues', path: '/queues', icon: 'queue' },
      { label: 'Crons', path: '/crons', icon: 'cron' },
    ],
  },
  {
    group: 'Mend',
    places: [
      { label: 'Issues', path: '/issues', icon: 'warning' },
      { label: 'Dead letters', path: '/dead-letters', icon: 'dead' },
      { label: 'Alerts', path: '/alerts', icon: 'alert' },
      { label: 'Bulk actions', path: '/bulk', icon: 'bulk' },
      { label: 'Maintenance', path: '/maintenance', icon: 'window' },
    ],
  },
  {
    group: 'Set up',
    places: [
      { label: 'Notifications', path: '/notifications', icon: 'bell' },
      { label: 'Access', path: '/access', icon: 'key' },
      { label: 'Audit log', path: '/audit', icon: 'audit' },
      { label: 'Status', path: '/status', icon: 'info' },
    ],
  },
]

/** The list of screens, beside each of them. */
export function Navigation() {
  const { path } = useLocation()
  const alerts = useRead('countAlerts', {})
  const unread = alerts.data?.unread ?? 0
  return (
    <nav class="navigation" aria-label="Screens">
      {PLACES.map(({ group, places }) => (
        <div key={group}>
          <h2>{group}</h2>
          <ul>
            {places.map((place) => (
              <li key={place.path}>
                <a href={at(place.path)} aria-current={isWithin(path, at(place.path)) ? 'page' : undefined}>
                  <Icon name={place.icon} />
                  {place.label}
                  {place.path === '/alerts' && unread > 0 && (
                    <span class="navigation-count number">
                      {formatCompact(unread)}
                      <span class="visually-hidden"> unread</span>
                    </span>
                  )}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

function isWithin(path: string, place: string): boolean {
  return path === place || (place !== at('/') && path.startsWith(`${place}/`))
}
