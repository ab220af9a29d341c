import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { Icon } from '../../ui/icon.tsx'
import { Panel } from '../../ui/page/page.tsx'
import './attention.css'
import { mattersOf } from './matters.ts'
import { WORST_QUEUES } from './worst-queues.ts'
import { Verbatim } from '../../ui/text/verbatim.tsx'

/** What somebody should look at now, or that there is nothing. What a window holds or mutes is said above every screen. */
export function Attention() {
  const queues = useRead('listQueues', WORST_QUEUES)
  const alerts = useRead('countAlerts', {})
  const team = useRead('readTeam', {})
  const matters = mattersOf({
    queues: queues.data?.queues ?? [],
    channels: team.data?.notifications ?? [],
    failures: alerts.data?.by_type.failure ?? 0,
  })
  if (matters.length === 0) {
    const isKnown = [queues, alerts, team].every(({ isSuccess }) => isSuccess)
    return isKnown ? <AllWell /> : null
  }
  return (
    <Panel title="Needs attention" isFlush>
      <ul class="attention">
        {matters.map(({ icon, tone, text, path, query }) => (
          <li key={text}>
            <a href={at(path, query)} data-tone={tone}>
              <Icon name={icon} />
              <Verbatim text={text} />
              <Icon name="chevron" size={14} />
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function AllWell() {
  return (
    <p class="all-well">
      <Icon name="check" />
      Nothing needs attention: no dead letters, no paused queue, no unread failure.
    </p>
  )
}
