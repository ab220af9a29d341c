import type { UseQueryResult } from '@tanstack/preact-query'
import { isAbsent } from '../api/faults.ts'
import { capital } from '../format/numbers.ts'
import { Empty, Fault, Loading } from './empty.tsx'
import type { IconName } from './icon.tsx'
import { type Crumb, Page, Panel } from './page.tsx'

/** In place of the page of a thing that is not read yet, cannot be read, or is not there. */
export function Unread({
  query: { error, refetch },
  what,
  title = capital(what),
  icon,
  all,
  why,
}: {
  readonly query: Pick<UseQueryResult, 'error' | 'refetch'>
  /** Such as `queue`. */
  readonly what: string
  readonly title?: string
  readonly icon: IconName
  /** The list in which those are that are there. */
  readonly all: Crumb
  /** What may have become of one that is not there. */
  readonly why: string
}) {
  return (
    <Page title={title} crumbs={[all]}>
      <Panel isFlush>
        {error === null ? (
          <Loading what={`the ${what}`} />
        ) : isAbsent(error) ? (
          <Empty icon={icon} title={`There is no such ${what}`}>
            <p>{why}</p>
            <a href={all.href}>All {all.label.toLowerCase()}</a>
          </Empty>
        ) : (
          <Fault fault={error} onRetry={() => void refetch()} />
        )}
      </Panel>
    </Page>
  )
}
