import { useRead } from '../../api/reads.ts'
import { formatCount } from '../../format/numbers.ts'
import { Fault, Loading } from '../../ui/empty.tsx'
import { Figure, Page } from '../../ui/page.tsx'

export function Overview() {
  const team = useRead('readTeam', {})
  return (
    <Page title="Overview">
      {team.isPending && <Loading what="the team" />}
      {team.isError && <Fault fault={team.error} onRetry={() => void team.refetch()} />}
      {team.data !== undefined && (
        <div class="figures">
          <Figure name="Jobs that have not ended">{formatCount(team.data.usage.pending_jobs)}</Figure>
          <Figure name="Calls in flight">{formatCount(team.data.usage.calls_in_flight)}</Figure>
        </div>
      )}
    </Page>
  )
}
