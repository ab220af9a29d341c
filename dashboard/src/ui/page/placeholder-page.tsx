import type { UseQueryResult } from '@tanstack/preact-query'
import { isAbsent } from '../../format/faults.ts'
import { capital } from '../../format/numbers.ts'
import { Empty, Fault, Loading } from './empty.tsx'
import type { IconName } from '../icon.tsx'
import { type Crumb, Page, Panel } from './page.tsx'

/** Stands in for the page of something that is still loading, cannot be read, or does not exist. */
export function PlaceholderPage({
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
  /** The list that leads to the others. */
  readonly all: Crumb
  /** Why it may not exist. */
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
