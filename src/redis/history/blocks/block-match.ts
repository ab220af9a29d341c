import type { JobFilter, TimeRange } from '../../../domain/jobs/job-filter.ts'
import { HISTORY_BLOCK_CHAINS } from '../../../domain/limits.ts'
import { cronKey, hostKey, PLAIN_CODE, tagKey, type Block, type Span } from './block.ts'
import { mayHold } from './key-filter.ts'

/** What a filter asks of blocks; null = they cannot help, all it asks for has to be looked through. */
export interface BlockQuery {
  readonly filter: JobFilter
  /** That a block must hold, all of them. */
  readonly keys: readonly string[]
}

export function blockQuery(filter: JobFilter): BlockQuery | null {
  const { status, finalStatus, failureReason, responseStatus, created, scheduled, ended } = filter
  const keys = [
    ...(filter.host === null ? [] : [hostKey(filter.host)]),
    ...(filter.tag === null ? [] : [tagKey(filter.tag.name, filter.tag.value)]),
    ...(filter.cronId === null ? [] : [cronKey(filter.cronId)]),
  ]
  const isBounded = [created, scheduled, ended].some(
    (range) => range.afterMs !== null || range.beforeMs !== null,
  )
  const asksForCode = [status, finalStatus, failureReason, responseStatus].some((part) => part !== null)
  return keys.length > 0 || isBounded || asksForCode ? { filter, keys } : null
}

/** Offsets of the chains of a block that may match, newest first; empty = none does. */
export function offsetsIn(block: Block, { filter, keys }: BlockQuery): readonly number[] {
  const { created, scheduled, ended } = filter
  if (!meets(created, block.created) || !meets(scheduled, block.scheduled) || !meets(ended, block.ended))
    return []
  if (!keys.every((key) => mayHold(block.keys, key))) return []
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

function meets({ afterMs, beforeMs }: TimeRange, [least, greatest]: Span): boolean {
  return (afterMs === null || greatest >= afterMs) && (beforeMs === null || least < beforeMs)
}

/** Whether a chain with this code may have a job that matches: a chain shows one, and any of its attempts can be it. */
function mayMatch(code: string, filter: JobFilter): boolean {
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
