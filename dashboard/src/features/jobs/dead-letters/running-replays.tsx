import type { Bulk } from '../../../../../clients/typescript/src/client.ts'
import { useRead } from '../../../api/reads.ts'
import { at } from '../../../routing/paths.ts'
import { ACTIONS } from '../bulk/bulk-actions.ts'
import { isOver } from '../bulk/bulk-state.tsx'
import { Progress } from '../bulk/progress/progress.tsx'
import { Panel } from '../../../ui/page/page.tsx'
import './running-replays.css'
import { Verbatim } from '../../../ui/text/verbatim.tsx'

const EVERY_MS = 2_000
/** Bulks that are looked at: those that run are among the newest. */
const LOOKED_AT = 50

/** Says that dead letters are being replayed or purged right now, so that nobody asks for it once more. */
export function RunningReplays() {
  const bulks = useRead('listBulks', { limit: LOOKED_AT }, { everyMs: EVERY_MS })
  const running = (bulks.data?.bulks ?? []).filter((bulk) => !isOver(bulk) && takesLetters(bulk))
  if (running.length === 0) return null
  return (
    <Panel
      title={running.length === 1 ? 'A bulk action runs on dead letters' : 'Bulk actions run on dead letters'}
    >
      <ul class="running-replays">
        {running.map((bulk) => (
          <li key={bulk.id}>
            <a href={at(`/bulk/${bulk.id}`)}>
              {ACTIONS[bulk.action].verb} by <Verbatim text={bulk.created_by} />
            </a>
            <Progress bulk={bulk} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function takesLetters({ action }: Bulk): boolean {
  return action === 'replay' || action === 'retry' || action === 'purge'
}
