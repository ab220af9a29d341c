import { alertTeam } from '../../ledger/alerts/alert-teams.ts'
import { alertIn, alertTotalIn, fingerprintOf, type AlertRecord } from '../../base/layout/alert-record.ts'
import { ALERT_COUNTS } from '../../base/layout/fields.ts'
import { queueKeyWord } from '../../base/layout/keys.ts'
import {
  decodeStanding,
  encodeStanding,
  SCAN_FIELD,
  warnedResource,
} from '../../watch/limit-warnings/standing-warnings.ts'
import type { InspectedShard, ShardFacts } from './inspect-facts.ts'
import { readHash, readSortedSet } from '../../base/engine/paged-reads.ts'

/** Ids of alerts end with the number of their shard. */
const SHARD_PLACES = 64

/** Checks the alerts of each team in a shard: records, their order, what is unread and what is counted; then warnings. */
export async function inspectAlerts(shard: InspectedShard, facts: ShardFacts): Promise<void> {
  for (const team of shard.list.alertTeams) {
    const records = await inspectRecords(shard, team)
    await inspectUnread(shard, team, records)
    await inspectTotals(shard, team, records)
    if (records.length > 0 && !facts.gc.has(`a${team}`))
      shard.find(shard.keys.retentionDue, `lacks the alerts of ${team}, which would stay for ever`)
  }
  await inspectWarnings(shard)
}

/** A warning that stands goes with its queue. */
async function inspectWarnings({ engine, keys, list, find }: InspectedShard): Promise<void> {
  for (const [field, value] of await readHash(engine, keys.limitWarnings)) {
    if (field === SCAN_FIELD) continue
    const resource = warnedResource(field)
    if (resource === null || encodeStanding(decodeStanding(value)) !== value)
      find(keys.limitWarnings, `holds ${field} = ${value}`)
    else if (
      resource.kind === 'queue' &&
      list.queues.get(resource.localId)?.has(queueKeyWord('meta')) !== true
    )
      find(keys.limitWarnings, `warns of queue ${resource.localId}, which is not there`)
  }
}

async function inspectRecords(
  { engine, keys, find }: InspectedShard,
  team: string,
): Promise<readonly AlertRecord[]> {
  const key = keys.alertRecords(team)
  const texts = await readHash(engine, key)
  const order = await readSortedSet(engine, keys.alertOrder(team))
  for (const id of new Set(texts.keys()).symmetricDifference(order)) {
    find(keys.alertOrder(team), order.has(id) ? `names alert ${id}, which is not there` : `lacks alert ${id}`)
  }
  const { recordsMax } = alertTeam(keys, team, engine.shards.length)
  if (texts.size > recordsMax) find(key, `holds ${texts.size} alerts`)
  const records: AlertRecord[] = []
  for (const [id, text] of texts) {
    const record = alertIn(id, text)
    const isHere = Number(id) % SHARD_PLACES === keys.shard && (order.get(id) ?? Number(id)) === Number(id)
    if (record === null || !isHere) find(key, `holds ${id} = ${text}`)
    if (record !== null) records.push(record)
  }
  return records
}

async function inspectUnread(
  { engine, keys, find }: InspectedShard,
  team: string,
  records: readonly AlertRecord[],
): Promise<void> {
  const key = keys.alertCounts(team)
  const counts = await readHash(engine, key)
  const unread = Map.groupBy(
    records.filter(({ alert }) => !alert.isRead),
    ({ alert }) => `${ALERT_COUNTS.unread}${alert.type}`,
  )
  const counted = [...counts.keys()].filter((field) => field.startsWith(ALERT_COUNTS.unread))
  for (const field of new Set([...counted, ...unread.keys()])) {
    const [said, is] = [Number(counts.get(field) ?? 0), unread.get(field)?.length ?? 0]
    if (said !== is) find(key, `counts ${said} unread alerts at ${field}; there are ${is}`)
  }
  const last = Number(counts.get(ALERT_COUNTS.last) ?? 0)
  const highest = Math.max(0, ...records.map(({ alert }) => Math.floor(alert.id / SHARD_PLACES)))
  if (last < highest) find(key, `has ${last} for the last alert while ${highest} is in use`)
}

async function inspectTotals(
  { engine, keys, find }: InspectedShard,
  team: string,
  records: readonly AlertRecord[],
): Promise<void> {
  const key = keys.alertTotals(team)
  const sent = Map.groupBy(
    records.filter(({ alert }) => alert.suppressedBy === null),
    ({ alert }) => fingerprintOf(alert),
  )
  for (const [fingerprint, text] of await readHash(engine, key)) {
    const total = alertTotalIn(text)
    if (total === null) {
      find(key, `holds ${fingerprint} = ${text}`)
      continue
    }
    const since = (sent.get(fingerprint) ?? []).filter(({ alert }) => alert.id >= total.bornId)
    const kept = since.reduce((sum, { alert }) => sum + alert.count, 0)
    if (kept > total.total) find(key, `counts ${total.total} of ${fingerprint}; there are ${kept}`)
  }
}
