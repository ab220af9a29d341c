import type { AlertType } from '../alerts/alert.ts'
import type { Told } from './channel-state.ts'

/** How many alerts of one resource, type and reason were raised in one shard, those that a window muted left out. */
export interface AlertTotal {
  readonly shard: number
  /** Fingerprint of resource, type and reason. */
  readonly fingerprint: string
  readonly type: AlertType
  /** Groups the fingerprints of one resource. */
  readonly resource: string
  /** The id of the first record of this fingerprint: another one means that the count began anew. */
  readonly born: number
  /** Number of alerts so far; it only rises. */
  readonly total: number
  /** The id of the newest record. */
  readonly newestId: number
  readonly lastAtMs: number
}

/** A team's alerts as read. A shard that does not answer is left out. */
export interface TeamTotals {
  readonly totals: readonly AlertTotal[]
  readonly shards: ReadonlySet<number>
}

export function keyOfTotal({ shard, fingerprint }: Pick<AlertTotal, 'shard' | 'fingerprint'>): string {
  return `${shard}/${fingerprint}`
}

export function shardOfKey(key: string): number {
  return Number(key.slice(0, key.indexOf('/')))
}

/** All of them as told. */
export function toldOf({ totals }: TeamTotals): Record<string, Told> {
  return Object.fromEntries(totals.map((total) => [keyOfTotal(total), [total.born, total.total]]))
}

/** How many of the alerts were told. */
export function toldCount(total: AlertTotal, told: Told | undefined): number {
  if (told === undefined || told[0] !== total.born) return 0
  return Math.min(told[1], total.total)
}
