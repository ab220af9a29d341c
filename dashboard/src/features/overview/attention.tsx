import type { MaintenanceWindow, Queue, Team } from '../../../../clients/typescript/src/client.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { plural } from '../../format/numbers.ts'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Panel } from '../../ui/page.tsx'
import './attention.css'

/** Of each kind at most so many are named. */
const NAMED_MAX = 5
/** Queues that are looked at: those of the first page. */
const QUEUES_MAX = 1_000

interface Matter {
  readonly key: string
  readonly icon: IconName
  readonly tone: 'bad' | 'warn' | 'busy'
  readonly text: string
  readonly href: string
}

/** What somebody should look at now; nothing where all is well. */
export function Attention() {
  const queues = useRead('listQueues', { limit: QUEUES_MAX })
  const alerts = useRead('countAlerts', {})
  const windows = useRead('listWindows', { limit: 100 })
  const team = useRead('readTeam', {})
  const matters = [
    ...alertMatters(alerts.data?.by_type.failure ?? 0),
    ...(team.data?.notifications ?? []).flatMap(channelMatters),
    ...(queues.data?.queues ?? []).flatMap(queueMatters),
    ...(windows.data?.windows ?? []).flatMap(windowMatters),
  ]
  if (matters.length === 0) return null
  return (
    <Panel title="Needs attention" isFlush>
      <ul class="attention">
        {matters.map(({ key, icon, tone, text, href }) => (
          <li key={key}>
            <a href={href} data-tone={tone}>
              <Icon name={icon} />
              {text}
              <Icon name="chevron" size={14} />
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function alertMatters(failures: number): Matter[] {
  if (failures === 0) return []
  const text = plural(failures, 'unread failure alert')
  return [
    {
      key: 'alerts',
      icon: 'alert',
      tone: 'bad',
      text,
      href: at('/alerts', { type: 'failure', read: 'false' }),
    },
  ]
}

function channelMatters({ channel, state }: Team['notifications'][number]): Matter[] {
  if (state !== 'failing') return []
  const text = `Messages to ${channel} fail`
  return [{ key: `channel ${channel}`, icon: 'bell', tone: 'bad', text, href: at('/notifications') }]
}

function queueMatters(queue: Queue): Matter[] {
  const { queue_id: id, name, counts } = queue
  const matter = (kind: string, rest: Pick<Matter, 'icon' | 'tone' | 'text'>): Matter => ({
    key: `${kind} ${id}`,
    href: at(`/queues/${id}`),
    ...rest,
  })
  const waiting = counts.pending + counts.delayed
  return [
    ...(queue.is_active
      ? []
      : [
          matter('paused', {
            icon: 'pause',
            tone: 'warn',
            text: `${name} is paused; ${plural(waiting, 'job waits', 'jobs wait')}`,
          }),
        ]),
    ...(queue.is_draining
      ? [
          matter('draining', {
            icon: 'down',
            tone: 'busy',
            text: `${name} drains; ${plural(waiting, 'job is', 'jobs are')} left`,
          }),
        ]
      : []),
    ...(counts.dead > 0
      ? [
          matter('dead', {
            icon: 'dead',
            tone: 'bad',
            text: `${name} has ${plural(counts.dead, 'dead letter')}`,
          }),
        ]
      : []),
  ].slice(0, NAMED_MAX)
}

function windowMatters({ name, active, action, ends_at: end }: MaintenanceWindow): Matter[] {
  if (!active) return []
  const effect = action === 'hold' ? 'holds jobs and mutes alerts' : 'mutes alerts'
  const until = end === null ? '' : ' for now'
  return [
    {
      key: `window ${name}`,
      icon: 'window',
      tone: 'busy',
      text: `${name} ${effect}${until}`,
      href: at('/maintenance'),
    },
  ]
}
