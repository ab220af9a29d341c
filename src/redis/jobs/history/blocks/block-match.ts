import type { JobFilter, TimeRange } from '../../../../domain/jobs/job-filter.ts'
import { singleFilters } from '../../../../domain/jobs/job-match.ts'
import { HISTORY_BLOCK_CHAINS } from '../../../../domain/limits.ts'
import { cronKey, hostKey, PLAIN_CODE, tagKey, type Block } from './block.ts'
import { probesOf, type KeyProbes } from './key-filter.ts'

/** What a filter asks of blocks. */
export interface BlockQuery {
  readonly filter: JobFilter
  /** The ranges of creation, schedule and end. */
  readonly ranges: readonly TimeRange[]
  /** The probes of the keys that a block must hold, all of them. */
  readonly probes: readonly KeyProbes[]
  /** Texts that stand in the codes of each block that has a match. They are a first sieve; `offsetsIn` decides. */
  readonly codes: readonly string[]
}

/** null = blocks cannot help, so everything that the filter asks for has to be looked through. */
export function blockQuery(filter: JobFilter): BlockQuery | null {
  const { status, finalStatus, failureReason, responseStatus, created, scheduled, ended } = filter
  const keys = [
    ...(filter.host === null ? [] : [hostKey(filter.host)]),
    ...(filter.tag === null ? [] : [tagKey(filter.tag.name, filter.tag.value)]),
    ...(filter.cronId === null ? [] : [cronKey(filter.cronId)]),
  ]
  const ranges = [created, scheduled, ended]
  const isBounded = ranges.some(({ afterMs, beforeMs }) => afterMs !== null || beforeMs !== null)
  const asksForCode = [status, finalStatus, failureReason, responseStatus, filter.statuses ?? null].some(
    (part) => part !== null,
  )
  if (keys.length === 0 && !isBounded && !asksForCode) return null
  return { filter, ranges, probes: keys.map(probesOf), codes: codeTexts(filter) }
}

/** Is empty when chains match that have no code in their block. */
function codeTexts(filter: JobFilter): string[] {
  if (mayMatch(PLAIN_CODE, filter)) return []
  const { failureReason, responseStatus } = filter
  return [
    // This text stands between any code and its offsets.
    '":"',
    ...(failureReason === null ? [] : [`${failureReason}:`]),
    ...(responseStatus === null ? [] : [`:${responseStatus}`]),
  ]
}

/**
 * Answers the offsets of the chains that may match in a block whose times and keys meet the query, newest first; none =
 * no chain does.
 */
export function offsetsIn(block: Block, { filter }: BlockQuery): readonly number[] {
  const isPlainWanted = mayMatch(PLAIN_CODE, filter)
  const found = new Uint8Array(HISTORY_BLOCK_CHAINS).fill(isPlainWanted ? 1 : 0)
  for (const [code, offsets] of block.codes) {
    const isWanted = mayMatch(code, filter) ? 1 : 0
    if (isWanted !== (isPlainWanted ? 1 : 0)) for (const offset of offsets) found[offset] = isWanted
  }
  const wanted: number[] = []
  for (let offset = HISTORY_BLOCK_CHAINS - 1; offset >= 0; offset -= 1) {
    if (found[offset] === 1) wanted.push(offset)
  }
  return wanted
}

/**
 * Tells whether a chain with this code may have a job that matches: a chain shows one, and any of its attempts can be
 * it.
 */
function mayMatch(code: string, filter: JobFilter): boolean {
  return singleFilters(filter).some((each) => mayMatchOne(code, each))
}

function mayMatchOne(code: string, filter: JobFilter): boolean {
  const [, end = '', attempts = '', outcomes = ''] = /^(\w)(\d+)\|(.*)$/.exec(code) ?? []
  return (
    mayHaveStatus(end, Number(attempts), filter) &&
    outcomes.split(',').some((outcome) => {
      const [reason, response] = outcome.split(':')
      return (
        (filter.failureReason === null || reason === filter.failureReason) &&
        (filter.responseStatus === null || response === String(filter.responseStatus))
      )
    })
  )
}

function mayHaveStatus(end: string, attempts: number, { status, finalStatus }: JobFilter): boolean {
  if (status === 'pending' || status === 'processing') return false
  if (status === 'completed' && end !== 's') return false
  if (status === 'failed' && end === 's' && attempts === 1) return false
  if (status === 'dead_lettered' && end !== 'd') return false
  switch (finalStatus) {
    case null:
      return true
    case 'success':
      return end === 's'
    case 'failed_no_retries':
      return end === 'f'
    case 'dead_lettered':
      return end === 'd'
    case 'failed_with_retries':
      return attempts > 1
    case 'retrying':
      return false
  }
}
