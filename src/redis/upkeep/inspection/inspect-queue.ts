import { TIMEOUT_SECONDS_MAX } from '../../../domain/limits.ts'
import { QUEUE } from '../../base/layout/fields.ts'
import type { InspectedShard, ShardFacts } from './inspect-facts.ts'
import { checkBlocks } from '../../jobs/history/check-blocks.ts'
import { inspectRing } from './inspect-ring.ts'
import { unlessDamaged } from '../../ledger/chain-reader.ts'
import {
  forEachField,
  readFieldNames,
  readHash,
  readLengths,
  readList,
  readSortedSet,
} from '../../base/engine/paged-reads.ts'
import { decodeFlow, decodeFlowState, encodeFlow, THROTTLED } from '../../base/layout/queue-record.ts'
import { decodeFinished } from '../../base/layout/finished-record.ts'
import { decodeRecord, quarantineIn, type JobRecord } from '../../base/layout/job-record.ts'
import { SYSTEM_SETTINGS_HASH } from '../../base/layout/system-record.ts'
import {
  callbackQueueOf,
  isCallbackQueue,
  isSuspectWaiting,
  suspectDueMs,
  splitNameField,
  shardPrefix,
  type QueueKeys,
  queueKeyWord,
} from '../../base/layout/keys.ts'

/** A queue as known while the inspection reads it. */
interface InspectedQueue {
  readonly shard: InspectedShard
  readonly facts: ShardFacts
  readonly id: string
  readonly keys: QueueKeys
  readonly ready: ReadonlySet<string>
  readonly inFlight: ReadonlyMap<string, number>
  /** seqs whose request must lie in `p:`. */
  readonly large: Set<string>
  /** seqs of chains seen, each in one place only. */
  readonly chains: Set<number>
}

export async function inspectQueue(
  shard: InspectedShard,
  facts: ShardFacts,
  id: string,
  parts: ReadonlySet<string>,
): Promise<void> {
  const keys = shard.keys.queue(id)
  if (!parts.has(queueKeyWord('meta'))) {
    for (const part of parts)
      shard.find(`${shardPrefix(shard.keys.shard)}${part}:${id}`, 'belongs to no queue')
    return
  }
  const readyList = await readList(shard.engine, keys.ready)
  const queue: InspectedQueue = {
    shard,
    facts,
    id,
    keys,
    ready: new Set(readyList),
    inFlight: await readSortedSet(shard.engine, keys.inFlight),
    large: new Set(),
    chains: new Set(),
  }
  if (queue.ready.size < readyList.length) shard.find(keys.ready, 'holds a job twice')
  const live = await readHash(shard.engine, keys.meta)
  inspectHead(queue, live)
  const pending = await inspectRecords(queue, keys.records)
  const gone = readyList.filter((job) => !pending.has(job)).length
  if (Number(live.get(QUEUE.cancelledReady) ?? 0) !== gone) {
    shard.findMiscount(
      keys.meta,
      `counts ${live.get(QUEUE.cancelledReady)} cancelled jobs in its ready list; there are ${gone}`,
    )
  }
  inspectSlots(queue, pending)
  await inspectRing(shard, facts, {
    id,
    live,
    ready: readyList.length,
    inFlight: queue.inFlight.size,
  })
  await inspectDeadLetters(queue)
  await inspectFinished(queue, live)
  await inspectLargeRequests(queue)
  await inspectCalls(queue)
}

function inspectHead(queue: InspectedQueue, live: ReadonlyMap<string, string>): void {
  const { shard, facts, id, keys } = queue
  for (const [field, value] of live) {
    if (!isHeadField(field, value)) shard.find(keys.meta, `holds ${field} = ${value}`)
  }
  const name = live.get(QUEUE.name) ?? ''
  const number = facts.numbers.get(splitNameField(name).team)
  if (number === undefined || live.get(QUEUE.teamNumber) !== number)
    shard.find(keys.meta, `is of team number ${live.get(QUEUE.teamNumber)}, its team ${name} has ${number}`)
  const cron = live.get(QUEUE.cronId)
  if (isCallbackQueue(id)) {
    const isIts = number !== undefined && id === callbackQueueOf(number) && name.endsWith('/')
    if (!isIts || live.size > 3) shard.find(keys.meta, `is for callbacks, of ${name}`)
    return
  }
  if (cron !== undefined) inspectHidden(queue, name, cron)
  else if (facts.names.get(name) !== id)
    shard.find(keys.meta, `says its name is ${name}, which is queue ${facts.names.get(name)}`)
  for (const field of [QUEUE.settingsHash, QUEUE.timeoutSeconds, QUEUE.active])
    if (!live.has(field)) shard.find(keys.meta, `lacks ${field}`)
  const hash = live.get(QUEUE.settingsHash)
  if (hash !== undefined) countSettings(facts, hash)
  if (live.has(QUEUE.compiled) && facts.pushed.has(id))
    shard.find(shard.keys.pushedBuckets, `names queue ${id}, which a resource has taken over`)
}

/** A hidden queue has the local number of its cron, and no name. */
function inspectHidden({ shard, facts, id, keys }: InspectedQueue, name: string, cron: string): void {
  const isOfCron = facts.crons.get(cron)?.startsWith(name) === true
  const number = Math.floor(Number(cron) / shard.engine.shards.length)
  if (!isOfCron || String(number) !== id) shard.find(keys.meta, `is hidden, of cron ${cron}`)
}

const FLAGS: ReadonlySet<string> = new Set([QUEUE.active, QUEUE.draining, QUEUE.strict, QUEUE.compiled])
const COUNTS: ReadonlySet<string> = new Set([
  QUEUE.timeoutSeconds,
  QUEUE.maxParallel,
  QUEUE.cancelledReady,
  QUEUE.cronId,
  QUEUE.teamNumber,
  QUEUE.trimmed,
  QUEUE.tombstones,
  QUEUE.buried,
  QUEUE.beyondKept,
  QUEUE.departed,
])

function isHeadField(field: string, value: string): boolean {
  if (field === QUEUE.name || field === QUEUE.settingsHash) return true
  if (field === QUEUE.lastFailure) return /^\d{13}\|\w+$/.test(value)
  if (field === QUEUE.lostJobs) return /^\d{13}\|\d+\|\d{13}\|\d{13}$/.test(value)
  if (field === QUEUE.flow) return encodeFlow(decodeFlow(value)) === value
  if (field === QUEUE.flowState) return decodeFlowState(value) !== null
  if (field === QUEUE.active && value === THROTTLED) return true
  if (FLAGS.has(field)) return value === '0' || value === '1'
  return COUNTS.has(field) && /^\d+$/.test(value)
}

function countSettings(facts: ShardFacts, hash: string): void {
  facts.counted.settings.set(hash, (facts.counted.settings.get(hash) ?? 0) + 1)
}

/** Checks every job that has not ended; answers their ids, and since when each is due, null = not to be read. */
async function inspectRecords(queue: InspectedQueue, key: string): Promise<Map<string, number | null>> {
  const pending = new Map<string, number | null>()
  await forEachField(queue.shard.engine, key, (id, text) => {
    const record = readRecord(queue, key, id, text)
    pending.set(id, record?.dueMs ?? null)
    if (record === null) return
    const places = placesOf(queue, id, record.dueMs)
    if (places.length !== 1) {
      queue.shard.find(key, `has job ${id} in ${places.length === 0 ? 'no place' : places.join(' and ')}`)
    }
    if (isCallbackQueue(queue.id)) {
      if (record.settingsHash !== SYSTEM_SETTINGS_HASH) queue.shard.find(key, `has job ${id} with settings`)
      return
    }
    countSettings(queue.facts, record.settingsHash)
    const attempt = queue.shard.engine.jobIds.attemptOf(Number(id))
    if (record.attempt !== attempt || record.earlier.length !== attempt - 1) {
      queue.shard.find(key, `has job ${id}, attempt ${attempt}, as attempt ${record.attempt}`)
    }
    noteChain(queue, key, id, record.isLarge)
  })
  return pending
}

function readRecord(queue: InspectedQueue, key: string, id: string, text: string): JobRecord | null {
  const { shard } = queue
  if (shard.engine.jobIds.shardOf(Number(id)) !== shard.keys.shard) {
    shard.find(key, `has job ${id} of another shard`)
  }
  const record = unlessDamaged(
    () => decodeRecord(text, null),
    () => null,
  )
  if (record === null) {
    shard.find(key, `has a record of job ${id} that cannot be read`)
    queue.facts.counted.damaged += 1
    return null
  }
  if (record.timeoutSeconds < 1 || record.timeoutSeconds > TIMEOUT_SECONDS_MAX) {
    shard.find(key, `has job ${id} with a timeout of ${record.timeoutSeconds} s`)
  }
  return record
}

/** An entry in the near set or in a minute bucket counts only with the due time of the record. */
function placesOf(queue: InspectedQueue, id: string, dueMs: number): string[] {
  const { facts } = queue
  const member = `${queue.id}|${id}`
  const places: string[] = []
  if (queue.ready.has(id)) places.push('ready')
  if (queue.inFlight.has(id)) places.push('in flight')
  if (facts.near.get(member) === dueMs) places.push('near')
  for (const due of facts.buckets.get(member) ?? []) if (due === dueMs) places.push('a minute')
  return places
}

/** Notes where a chain was found, and removes its entry from the index. */
function noteChain(queue: InspectedQueue, key: string, jobId: string, isLarge: boolean): void {
  const { shard, facts } = queue
  const seq = shard.engine.jobIds.seqOf(Number(jobId))
  facts.counted.highestSeq = Math.max(facts.counted.highestSeq, seq)
  if (queue.chains.has(seq)) shard.find(key, `has the chain of job ${jobId} a second time`)
  else if (facts.index.get(seq) !== queue.id)
    shard.find(key, `has job ${jobId}, which the index does not name`)
  queue.chains.add(seq)
  facts.index.delete(seq)
  if (isLarge) queue.large.add(String(seq))
}

/** Checks the semaphore: each slot has a job and one holder, and each held job has a slot. */
function inspectSlots(queue: InspectedQueue, pending: ReadonlyMap<string, number | null>): void {
  const { shard, facts, keys } = queue
  const held = facts.held.get(queue.id) ?? new Map<string, readonly string[]>()
  for (const [id, score] of queue.inFlight) {
    const holders = held.get(id) ?? []
    if (isSuspectWaiting(score)) {
      if (!facts.suspects.has(`${queue.id}|${id}`)) shard.find(shard.keys.suspects, `lacks the suspect ${id}`)
      if (holders.length > 0) shard.find(keys.inFlight, `has the suspect ${id}, which an executor holds`)
      if (!pending.has(id)) shard.find(keys.inFlight, `has the suspect ${id}, which has no record`)
      const [noted, due] = [suspectDueMs(score), pending.get(id) ?? null]
      if (due !== null && noted !== due)
        shard.find(keys.inFlight, `has the suspect ${id} as due at ${noted}, its record says ${due}`)
      continue
    }
    if (holders.length !== 1) shard.find(keys.inFlight, `has job ${id}, held by ${holders.length} executors`)
    if (!pending.has(id)) shard.find(keys.inFlight, `has job ${id}, which has no record`)
  }
  for (const [id, executors] of held) {
    if (queue.inFlight.has(id)) continue
    for (const executor of executors)
      shard.find(shard.keys.heldJobs(executor), `holds job ${id}, which has no slot`)
  }
}

async function inspectDeadLetters(queue: InspectedQueue): Promise<void> {
  const { shard, facts, keys } = queue
  const purgeTimes = await readSortedSet(shard.engine, keys.deadLetters)
  const bodies = new Set<string>()
  const stored = new Set(await readFieldNames(shard.engine, keys.payloads))
  await forEachField(shard.engine, keys.deadLetterRecords, (root, text) => {
    bodies.add(root)
    if (!purgeTimes.has(root))
      shard.find(keys.deadLetterRecords, `has the dead letter ${root}, which nothing will purge`)
    if (quarantineIn(text) !== null) {
      // Nothing says whether its request is large.
      noteChain(
        queue,
        keys.deadLetterRecords,
        root,
        stored.has(String(shard.engine.jobIds.seqOf(Number(root)))),
      )
      return
    }
    const record = readRecord(queue, keys.deadLetterRecords, root, text)
    if (record === null) return
    if (record.earlier.length !== record.attempt) {
      shard.find(keys.deadLetterRecords, `has the dead letter ${root} without a summary of each attempt`)
    }
    noteChain(queue, keys.deadLetterRecords, root, record.isLarge)
  })
  for (const root of purgeTimes.keys()) {
    if (!bodies.has(root)) shard.find(keys.deadLetters, `has the dead letter ${root} without a body`)
  }
  if (purgeTimes.size === 0) return
  const collectAt = facts.gc.get(queue.id)
  if (collectAt === undefined || collectAt > Math.min(...purgeTimes.values())) {
    shard.find(shard.keys.retentionDue, `is too late for the dead letters of queue ${queue.id}`)
  }
}

async function inspectFinished(queue: InspectedQueue, live: ReadonlyMap<string, string>): Promise<void> {
  const { shard, facts, keys } = queue
  const order = await readList(shard.engine, keys.history)
  const roots = new Set<string>()
  for (const root of order) {
    // By its id: chains that end between two pages shift the list, so that each look sees others twice.
    if (roots.has(root)) shard.find(keys.history, `holds the chain ${root} twice`)
    roots.add(root)
  }
  const summaries = new Set<string>()
  await forEachField(shard.engine, keys.summaries, (root, text) => {
    summaries.add(root)
    if (!roots.has(root)) shard.find(keys.summaries, `has the chain ${root}, which the history lacks`)
    if (!isFinishedRecord(text)) shard.find(keys.summaries, `has a summary of ${root} that cannot be read`)
    noteChain(queue, keys.summaries, root, false)
  })
  const tombstones = Number(live.get(QUEUE.tombstones) ?? 0)
  const without = roots.difference(summaries).size
  if (without !== tombstones) {
    shard.findMiscount(
      keys.meta,
      `counts ${tombstones} deleted chains; its history has ${without} without a summary`,
    )
  }
  if (roots.size > 0 && !facts.gc.has(queue.id)) {
    shard.find(shard.keys.retentionDue, `lacks queue ${queue.id}, whose history is to be trimmed`)
  }
  const sealed = await checkBlocks(shard, queue.id)
  const { team } = splitNameField(live.get(QUEUE.name) ?? '')
  if (sealed !== null) facts.counted.sealed.set(`${team}/${queue.id}`, sealed)
}

function isFinishedRecord(text: string): boolean {
  try {
    return decodeFinished(text).attempts.length > 0
  } catch {
    return false
  }
}

async function inspectLargeRequests(queue: InspectedQueue): Promise<void> {
  const stored = new Set(await readFieldNames(queue.shard.engine, queue.keys.payloads))
  for (const seq of stored.difference(queue.large)) {
    queue.shard.find(queue.keys.payloads, `keeps the request of seq ${seq}, which nothing refers to`)
  }
  for (const seq of queue.large.difference(stored))
    queue.shard.find(queue.keys.payloads, `lacks the request of seq ${seq}`)
}

async function inspectCalls(queue: InspectedQueue): Promise<void> {
  const { shard, facts, keys } = queue
  const { failedCallsMax, successfulCallsMax } = shard.engine.retention
  const failed = await readList(shard.engine, keys.failedCalls)
  const successful = await readList(shard.engine, keys.successfulCalls)
  if (failed.length > failedCallsMax) shard.find(keys.failedCalls, `lists ${failed.length} failed calls`)
  if (successful.length > successfulCallsMax)
    shard.find(keys.successfulCalls, `lists ${successful.length} successful calls`)
  const listed = new Set([...failed, ...successful])
  if (listed.size < failed.length + successful.length)
    shard.find(keys.callRecords, 'is listed twice for a job')
  const lengths = await readLengths(shard.engine, keys.callRecords)
  const stored = [...lengths.keys()]
  for (const id of new Set(stored).difference(listed))
    shard.find(keys.callRecords, `keeps a call of job ${id} for ever`)
  for (const id of listed.difference(new Set(stored)))
    shard.find(keys.callRecords, `lacks the listed call of job ${id}`)
  if (stored.length > 0 && !facts.cq.has(queue.id))
    shard.find(shard.keys.oldestCalls, `lacks queue ${queue.id}`)
  for (const length of lengths.values()) facts.counted.callBytes += length
}

/** Checks the remains of a deleted queue, which exist until they have been emptied. */
export async function inspectTrash(
  shard: InspectedShard,
  facts: ShardFacts,
  id: string,
  parts: ReadonlySet<string>,
): Promise<void> {
  const queue: InspectedQueue = {
    shard,
    facts,
    id,
    keys: shard.keys.queue(id),
    ready: new Set(),
    inFlight: new Map(),
    large: new Set(),
    chains: new Set(),
  }
  const anyKey = queue.keys.trashedRecords
  if (shard.list.queues.has(id)) shard.find(anyKey, 'is the trash of a queue that still has keys')
  if (!facts.gc.has(`t${id}`)) shard.find(anyKey, 'is not listed in gc, so nothing will empty it')
  if (parts.size === 1 && parts.has(queueKeyWord('payloads')))
    shard.find(queue.keys.trashedPayloads, 'was left behind')
  await forEachField(shard.engine, anyKey, (job, text) => {
    const record = readRecord(queue, anyKey, job, text)
    if (record === null) return
    countSettings(facts, record.settingsHash)
    noteChain(queue, anyKey, job, false)
  })
  for (const key of [queue.keys.trashedSummaries, queue.keys.trashedDeadLetterRecords]) {
    await forEachField(shard.engine, key, (root) => noteChain(queue, key, root, false))
  }
}
