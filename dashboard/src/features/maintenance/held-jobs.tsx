import { useRead } from '../../api/reads.ts'
import { plural } from '../../format/numbers.ts'
import { Notice } from '../../ui/text/notice.tsx'

/** What a window that holds would stop, as things are now. @param resource such as `queue/12`; empty = all of the team */
export function HeldJobs({ resource }: { readonly resource: string }) {
  const [kind = '', id = ''] = resource.split('/')
  return (
    <Notice icon="pause" tone="warn">
      {kind === 'queue' && <OfQueue id={id} />}
      {kind === 'cron' && 'The cron does not tick, and its jobs do not start, until the window has closed.'}
      {kind === '' && <OfTeam />}
    </Notice>
  )
}

function OfQueue({ id }: { readonly id: string }) {
  const { data, isPlaceholderData } = useRead('readQueue', { queue_id: id }, { isLive: false })
  if (data === undefined || isPlaceholderData)
    return <>No job of the queue starts until the window has closed.</>
  const { pending, delayed, processing } = data.counts
  return (
    <>
      As of now it stops {plural(pending, 'ready job')} and {plural(delayed, 'job')} of the queue that{' '}
      {delayed === 1 ? 'is' : 'are'} due later. {plural(processing, 'call')} in flight would end.
    </>
  )
}

function OfTeam() {
  const { data } = useRead('readTeam', {}, { isLive: false })
  if (data === undefined) return <>No job of the team starts until the window has closed.</>
  const { pending_jobs: open, calls_in_flight: calls } = data.usage
  return (
    <>
      As of now it stops {plural(Math.max(0, open - calls), 'job')} in all queues of the team, and every cron.{' '}
      {plural(calls, 'call')} in flight would end.
    </>
  )
}
