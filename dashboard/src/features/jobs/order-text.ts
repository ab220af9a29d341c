import { capital } from '../../format/numbers.ts'
import type { FilterValues } from '../../format/job-filter.ts'

/** In which order the API lists what is asked for. */
export function orderText({ queue, status }: FilterValues): string {
  const within = orderWithin(status)
  if (queue === undefined) return `By the names of their queues; in each ${within}.`
  return `${capital(within)}.`
}

function orderWithin(status: string | undefined): string {
  switch (status) {
    case 'pending':
    case 'processing':
      return 'by due time; more than 1,000 in no order'
    case 'completed':
    case 'dead_lettered':
      return 'newest first'
    case 'failed':
      return 'dead letters first, then the newest'
    default:
      return 'what has not ended by due time, then dead letters, then the newest'
  }
}
