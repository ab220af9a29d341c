import { capital } from '../../../format/numbers.ts'
import { type FilterValues, orderOf } from '../job-filter.ts'

/** In which order the API lists what is asked for. */
export function orderText(values: FilterValues): string {
  const { queue, status } = values
  if (orderOf(values) === null) return 'In the order in which the bulk made or fired them.'
  if (orderOf(values) === 'newest') return timeText(status, 'newest')
  if (orderOf(values) === 'oldest') return timeText(status, 'oldest')
  const within = orderWithin(status)
  if (queue === undefined) return `By the names of their queues; in each ${within}.`
  return `${capital(within)}.`
}

function timeText(status: string | undefined, first: 'newest' | 'oldest'): string {
  switch (status) {
    case 'completed':
    case 'dead_lettered':
      return `The ${first} end first.`
    case 'pending':
    case 'processing':
      return `The ${first} push first; more than 2,000 by queue.`
    default:
      return `First what has not ended, by its push, unless it is over 2,000 jobs; then the ${first} end first.`
  }
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
