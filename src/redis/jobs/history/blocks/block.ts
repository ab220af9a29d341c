import { hostOf } from '../../../../domain/jobs/job-match.ts'
import { FINISHED_CHAINS_PER_QUEUE_KEPT, HISTORY_BLOCK_CHAINS } from '../../../../domain/limits.ts'
import type { FinishedRecord } from '../../../base/layout/finished-record.ts'
import { decodeOffsets, encodeOffsets } from './block-offsets.ts'
import { makeKeyFilter } from './key-filter.ts'

/**
 * What a block says of 256 chains that stand together in a history. In Redis it is a JSON array: bytes of the summaries,
 * root of the newest chain, length of the key filter, the key filter, least and greatest time of creation, schedule and end
 * of any attempt, the codes, and 1 for plain hosts; match_blocks.lua reads it too. It never leaves out a chain that is there; of chains deleted since it may say too much.
 */
export interface Block {
  /** The bytes of all summaries when the block was sealed. */
  readonly bytes: number
  /** The root by which steps recognize that the block still belongs to the history. */
  readonly newestRoot: string
  /** Unix ms; the greatest is below the least when the block has no chains. */
  readonly created: Span
  readonly scheduled: Span
  readonly ended: Span
  /** By code, the offsets of its chains in the block, ascending. Chains that just succeeded, with 200, are in none. */
  readonly codes: ReadonlyMap<string, readonly number[]>
  /** The key filter of hosts, tags and crons, which `blockKeysOf` names. */
  readonly keys: string
  /**
   * Tells whether each host stands in its URL as `hostOf` writes it, so that a summary can be searched for its text.
   */
  readonly hasPlainHosts: boolean
}

/** The budget counts this many bytes for a block beside its summaries, here and in history/sealed.lua. */
export const BLOCK_BYTES = HISTORY_BLOCK_CHAINS * 96
/** This many of a queue's newest blocks count for its team's quota, because the budget may not drop them. */
export const KEPT_BLOCKS = Math.ceil(FINISHED_CHAINS_PER_QUEUE_KEPT / HISTORY_BLOCK_CHAINS)

export type Span = readonly [least: number, greatest: number]

/** The chain at an offset of a block; null = it cannot be read, or was deleted. */
export interface BlockChain {
  readonly offset: number
  readonly record: FinishedRecord | null
}

/** The code of a chain that succeeded at its first attempt, with 200. */
export const PLAIN_CODE = 's1|-:200'

/** Makes the code that says how a chain ended: its end, how many attempts it had, and what came of these. */
export function codeOf({ end, attempts }: FinishedRecord): string {
  const [first] = attempts
  // Most chains have one attempt.
  if (first !== undefined && attempts.length === 1) return `${end[0]}1|${outcomeOf(first)}`
  return `${end[0]}${attempts.length}|${[...new Set(attempts.map(outcomeOf))].join(',')}`
}

function outcomeOf({ failureReason, responseStatus }: FinishedRecord['attempts'][number]): string {
  return `${failureReason ?? '-'}:${responseStatus ?? '-'}`
}

/** Makes the keys by which a chain is found. @param host that of its URL */
export function blockKeysOf({ request: { url, tags, cron } }: FinishedRecord, host = hostOf(url)): string[] {
  const keys = Object.entries(tags).map(([name, value]) => tagKey(name, value))
  if (host !== '') keys.push(hostKey(host))
  if (cron !== null) keys.push(cronKey(cron.cronId))
  return keys
}

export function hostKey(host: string): string {
  return `h${host}`
}
export function tagKey(name: string, value: string): string {
  return `t${name}\0${value}`
}
export function cronKey(cronId: number): string {
  return `c${cronId}`
}

export function makeBlock(
  chains: readonly BlockChain[],
  { bytes, newestRoot }: Pick<Block, 'bytes' | 'newestRoot'>,
): Block {
  const [created, scheduled, ended] = [new WideningSpan(), new WideningSpan(), new WideningSpan()]
  const codes = new Map<string, number[]>()
  const keys = new Set<string>()
  const hosts = new Map<string, string>()
  let hasPlainHosts = true
  for (const { offset, record } of chains) {
    if (record === null) continue
    for (const attempt of record.attempts) {
      created.add(attempt.createdAtMs)
      scheduled.add(attempt.scheduledAtMs)
      ended.add(attempt.completedAtMs)
    }
    const { url } = record.request
    // Most chains of a queue call the same URL.
    const host = hosts.get(url) ?? hostOf(url)
    hosts.set(url, host)
    for (const key of blockKeysOf(record, host)) keys.add(key)
    hasPlainHosts &&= url.includes(host)
    const code = codeOf(record)
    if (code === PLAIN_CODE) continue
    const offsets = codes.get(code) ?? []
    offsets.push(offset)
    codes.set(code, offsets)
  }
  return {
    bytes,
    newestRoot,
    codes,
    keys: makeKeyFilter(keys),
    hasPlainHosts,
    created: created.ends,
    scheduled: scheduled.ends,
    ended: ended.ends,
  }
}

class WideningSpan {
  #least = Number.MAX_SAFE_INTEGER
  #greatest = 0

  add(ms: number): void {
    if (ms < this.#least) this.#least = ms
    if (ms > this.#greatest) this.#greatest = ms
  }

  get ends(): Span {
    return [this.#least, this.#greatest]
  }
}

type EncodedBlock = [
  bytes: number,
  newestRoot: number,
  keysLength: number,
  keys: string,
  created: Span,
  scheduled: Span,
  ended: Span,
  codes: Readonly<Record<string, string>>,
  plainHosts: number,
]

export function encodeBlock(block: Block): string {
  const { bytes, newestRoot, created, scheduled, ended, keys } = block
  const codes = Object.fromEntries([...block.codes].map(([code, offsets]) => [code, encodeOffsets(offsets)]))
  const parts: EncodedBlock = [
    bytes,
    Number(newestRoot),
    keys.length,
    keys,
    created,
    scheduled,
    ended,
    codes,
    block.hasPlainHosts ? 1 : 0,
  ]
  return JSON.stringify(parts)
}

/** null = the block is damaged, so its chains have to be looked through. */
export function decodeBlock(text: string): Block | null {
  try {
    const [bytes, newestRoot, keysLength, keys, created, scheduled, ended, offsets, plainHosts] = JSON.parse(
      text,
    ) as EncodedBlock
    if (![created, scheduled, ended].every(isSpan) || keys.length !== keysLength) return null
    const codes = new Map(Object.entries(offsets).map(([code, of]) => [code, decodeOffsets(of)]))
    const hasPlainHosts = plainHosts === 1
    return { bytes, newestRoot: String(newestRoot), created, scheduled, ended, codes, keys, hasPlainHosts }
  } catch {
    return null
  }
}

function isSpan(span: unknown): boolean {
  return Array.isArray(span) && span.length === 2 && span.every((ms) => Number.isSafeInteger(ms))
}

/** Answers the block of an ordinal, and its offset there. */
export function blockPlace(ordinal: number): { number: number; offset: number } {
  return { number: Math.floor(ordinal / HISTORY_BLOCK_CHAINS), offset: ordinal % HISTORY_BLOCK_CHAINS }
}
