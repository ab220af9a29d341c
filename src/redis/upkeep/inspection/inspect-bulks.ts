import { isBulkEnded } from '../../../domain/bulk/bulk.ts'
import { readParts, readPart, sumOf } from '../../jobs/bulk/records/bulk-records.ts'
import {
  type BulkRef,
  homeOfBulks,
  memberIn,
  outcomeMember,
  partMember,
  wholeMember,
} from '../../jobs/bulk/records/bulk-steps.ts'
import { bulkRecordIn } from '../../base/layout/bulk-record.ts'
import type { InspectedShard } from './inspect-facts.ts'
import { readHash, readSortedSet } from '../../base/engine/paged-reads.ts'

/** Checks the bulks at home in a shard, the parts of bulks there, and what is due. */
export async function inspectBulks(shard: InspectedShard): Promise<void> {
  const { engine, keys, list, find } = shard
  const due = await readSortedSet(engine, keys.bulksDue)
  const expected = new Set<string>()
  for (const team of list.bulkTeams) {
    const key = keys.bulks(team)
    if (homeOfBulks(engine, team).shard !== keys.shard) find(key, 'is not in the home of its team')
    for (const [id, text] of await readHash(engine, key)) {
      await inspectBulk(shard, { ref: { team, id: Number(id) }, text, expected })
    }
  }
  for (const member of list.bulkParts) await inspectPart(shard, member, expected)
  for (const member of due.keys()) {
    if (!expected.has(member)) find(keys.bulksDue, `names ${member}, which nothing is to be done for`)
  }
  for (const member of expected) {
    if (!due.has(member)) find(keys.bulksDue, `lacks ${member}, which is not worked off`)
  }
}

async function inspectBulk(
  { engine, keys, find, findMiscount }: InspectedShard,
  { ref, text, expected }: { readonly ref: BulkRef; readonly text: string; readonly expected: Set<string> },
): Promise<void> {
  const key = keys.bulks(ref.team)
  const record = bulkRecordIn(text)
  if (record === null) return find(key, `holds ${ref.id} = ${text}`)
  if (!isBulkEnded(record.state)) return void expected.add(wholeMember(ref))
  const parts = await readParts(engine, ref, record.shards)
  if (parts.some(({ state }) => state === 'running'))
    find(key, `says that ${ref.id} has ended, but a part has not`)
  const counted = JSON.stringify(sumOf(parts))
  if (parts.length === record.shards.length && JSON.stringify(record.counts) !== counted)
    findMiscount(key, `counts ${JSON.stringify(record.counts)} for ${ref.id}; its parts ${counted}`)
}

async function inspectPart(
  { engine, keys, find, findMiscount }: InspectedShard,
  member: string,
  expected: Set<string>,
): Promise<void> {
  const key = keys.bulkPart(member)
  const ref = memberIn(member)?.ref
  const part = ref === undefined ? null : await readPart(engine, keys.shard, ref)
  if (ref === undefined || part === null) return find(key, 'is not the part of a bulk')
  if (part.state === 'running') expected.add(partMember(ref))
  const { version, done, skipped, failed } = part
  const isSound = /^[1-9]\d*$/.test(version) && [done, skipped, failed].every(Number.isSafeInteger)
  if (!isSound) find(key, `has version ${version} and counts ${done}, ${skipped}, ${failed}`)
  const [kept, waiting] = await engine.runner.read((redis) =>
    Promise.all([redis.llen(keys.bulkFailures(member)), redis.llen(keys.bulkWaiting(member))]),
  )
  if (waiting > 0) expected.add(outcomeMember(ref))
  if (waiting !== part.outcome.waiting)
    findMiscount(keys.bulkWaiting(member), `has ${waiting} jobs where ${part.outcome.waiting} are to wait`)
  if (kept > failed) find(keys.bulkFailures(member), `has ${kept} failures of ${failed}`)
}
