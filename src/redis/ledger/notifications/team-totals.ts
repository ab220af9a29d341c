import { ALERT_TYPES, type Alert, type AlertType } from '../../../domain/alerts/alert.ts'
import type { AlertTotal, TeamTotals } from '../../../domain/notifications/alert-totals.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { alertIn, alertTotalIn, type AlertRecord } from '../../base/layout/alert-record.ts'
import { SHARDS_MAX } from '../../../domain/limits.ts'

/** Fingerprint that many alerts share, because there are too many; lib/alerts.lua says when. */
export const OTHER = 'other'

/** A shard that does not answer is left out. */
export async function readTotals(engine: Engine, team: string): Promise<TeamTotals> {
  const totals: AlertTotal[] = []
  const shards = new Set<number>()
  const read = await Promise.allSettled(
    engine.shards.map((keys) => engine.runner.read((redis) => redis.hgetall(keys.alertTotals(team)))),
  )
  for (const [shard, hash] of read.entries()) {
    if (hash.status === 'rejected') continue
    shards.add(shard)
    for (const [fingerprint, text] of Object.entries(hash.value)) {
      const total = totalIn({ shard, fingerprint, text })
      if (total !== null) totals.push(total)
    }
  }
  return { totals, shards }
}

/** null when it is damaged. */
function totalIn(from: {
  readonly shard: number
  readonly fingerprint: string
  readonly text: string
}): AlertTotal | null {
  const { shard, fingerprint, text } = from
  const found = alertTotalIn(text)
  const [type = '', , kind, resource] = fingerprint.split('|')
  if (found === null || !isType(type)) return null
  return {
    shard,
    fingerprint,
    type,
    resource: kind === undefined ? OTHER : `${kind}|${resource}`,
    born: found.bornId,
    total: found.total,
    newestId: found.openId,
    lastAtMs: found.lastAtMs,
  }
}

const isType = (word: string): word is AlertType => ALERT_TYPES.includes(word as AlertType)

/** Reads alerts by id; those that do not exist or cannot be read are left out. */
export async function readAlertRecords(
  engine: Engine,
  team: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, AlertRecord>> {
  const found = new Map<number, AlertRecord>()
  const byShard = Map.groupBy(new Set(ids), (id) => id % SHARDS_MAX)
  await Promise.all(
    [...byShard].map(async ([shard, ofShard]) => {
      if (shard >= engine.shards.length) return
      const key = shardKeys(engine, shard).alertRecords(team)
      const texts = await engine.runner.read((redis) => redis.hmget(key, ...ofShard.map(String)))
      ofShard.forEach((id, i) => {
        const record = alertIn(String(id), texts[i] ?? '')
        if (record !== null) found.set(id, record)
      })
    }),
  )
  return found
}

export async function readAlerts(
  engine: Engine,
  team: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Alert>> {
  const records = await readAlertRecords(engine, team, ids)
  return new Map([...records].map(([id, { alert }]) => [id, alert]))
}
