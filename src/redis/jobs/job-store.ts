import { randomBytes } from 'node:crypto'
import { LEASE_MS, STORE_DEADLINE_MS } from '../../domain/limits.ts'
import { StoreUnavailableError } from '../../domain/errors.ts'
import { monthOf } from '../../domain/quotas.ts'
import type { JobStore } from '../../ports/jobs.ts'
import { readChain, unlessDamaged } from '../chains/chain-reader.ts'
import { knownQueue, type KnownQueue } from '../chains/known-queue.ts'
import { isDamaged } from '../chains/damaged-chain.ts'
import { hintWake, shardKeys, type Engine } from '../client/engine.ts'
import { encodeFinished } from '../layout/finished-record.ts'
import { listJobs } from './job-pages.ts'
import { decodeRecord, decodeRequest } from '../layout/job-record.ts'
import { indexPlace, queueIdOf } from '../layout/keys.ts'
import { purgeDeadLetters } from '../retention/dead-letters.ts'
import { createSequence, type Sequence } from '../enqueue/sequence.ts'

/** A replay whose id block was lost is tried with another this often. */
const REPLAY_TRIES_MAX = 3

export function createJobStore(engine: Engine): JobStore {
  const nonce = randomBytes(6).toString('base64url')
  const sequences = engine.shards.map((keys) => createSequence(engine, keys))
  return {
    get: async (team, jobId) => {
      const queue = await queueOfJob(engine, team, jobId)
      return queue === null ? null : readChain(engine, queue, engine.jobIds.rootOf(jobId))
    },
    list: (query) => listJobs(engine, query),
    cancel: (team, jobId) => cancel(engine, team, jobId),
    replay: (team, jobId) => replay(engine, sequences, nonce, team, jobId),
  }
}

/** The queue that holds the job's chain; null when unknown, deleted or of another team. */
async function queueOfJob(engine: Engine, team: string, jobId: number): Promise<KnownQueue | null> {
  const keys = shardKeys(engine, engine.jobIds.shardOf(jobId))
  const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
  const localId = await engine.runner.read((redis) => redis.hget(keys.jobIndex(block), field))
  if (localId === null) return null
  const queue = await knownQueue(engine, keys, localId)
  return queue !== null && queue.team === team ? queue : null
}

async function cancel(engine: Engine, team: string, jobId: number) {
  const queue = await queueOfJob(engine, team, jobId)
  if (queue === null) return 'not_found' as const
  const { keys, localId } = queue
  const k = keys.queue(localId)
  const seq = engine.jobIds.seqOf(jobId)
  const { block, field } = indexPlace(seq)
  const answer = await engine.runner.run({
    name: 'cancel',
    keys: [
      ...[keys.nearSet, keys.minutes, keys.settings, keys.settingsUses, keys.jobIndex(block)],
      ...[
        k.meta,
        k.ready,
        k.records,
        k.inFlight,
        k.payloads,
        keys.teamUsage,
        keys.shardUsage,
        keys.suspects,
        keys.ring,
        keys.teams,
      ],
    ],
    args: [localId, jobId, seq, field],
  })
  if (answer !== 'gone') return answer as 'cancelled' | 'in_flight'
  const rootId = engine.jobIds.rootOf(jobId)
  const chain = await readChain(engine, queue, rootId)
  if (chain !== null && isDamaged(chain)) {
    // It was set aside as a dead letter; as a finished chain it stays, to be forgotten in its time.
    const purged = await purgeDeadLetters(engine, keys, {
      localId,
      roots: [String(rootId)],
      onlyDue: false,
    })
    if (purged > 0) return 'cancelled'
  }
  const attempts = chain === null ? 0 : chain.attempts.length
  return engine.jobIds.attemptOf(jobId) <= attempts ? ('ended' as const) : ('not_found' as const)
}

const REPLAYED_PARTS = [
  ...(['meta', 'ready', 'records', 'inFlight', 'payloads'] as const),
  ...(['deadLetters', 'deadLetterRecords', 'history', 'summaries'] as const),
] as const

async function replay(
  engine: Engine,
  sequences: readonly Sequence[],
  nonce: string,
  team: string,
  jobId: number,
): Promise<Awaited<ReturnType<JobStore['replay']>>> {
  const queue = await queueOfJob(engine, team, jobId)
  if (queue === null) return { status: 'not_found' }
  const { keys, localId } = queue
  const rootId = engine.jobIds.rootOf(jobId)
  const sequence = sequences[keys.shard] as Sequence
  for (let tries = 0; tries < REPLAY_TRIES_MAX; tries += 1) {
    const letter = await readLetter(engine, queue, rootId)
    if (letter === null) return whyNotReplayable(engine, queue, rootId)
    const seq = await sequence.next(STORE_DEADLINE_MS / 2)
    const newId = engine.jobIds.idOf(keys.shard, seq, 1)
    const { block, field } = indexPlace(seq)
    const { month, nextStartsMs } = monthOf(engine.runner.redisNowMs(keys.shard))
    const k = keys.queue(localId)
    const record = encodeFinished({ ...letter, end: 'dead_lettered', replayedAs: newId })
    const [status, due, woken] = (await engine.runner.run(
      {
        name: 'replay',
        keys: [
          ...[
            keys.clock,
            keys.executors,
            keys.ring,
            keys.retentionDue,
            keys.settings,
            keys.settingsUses,
            keys.jobIndex(block),
          ],
          ...REPLAYED_PARTS.map((part) => k[part]),
          ...[keys.teamUsage, keys.teams],
        ],
        args: [
          ...[LEASE_MS, engine.retention.finishedChainsMs, localId, rootId, engine.jobIds.seqOf(rootId)],
          ...[nonce, newId, seq, field, letter.request.timeoutSeconds ?? '', record, month, nextStartsMs],
        ],
      },
      STORE_DEADLINE_MS / 2,
    )) as [string, string, number]
    if (status === 'taken') {
      sequence.dropBlock()
      continue
    }
    if (status === 'gone') continue
    if (woken > 0) hintWake(engine, keys.shard)
    return {
      status: 'replayed',
      jobId: newId,
      queueId: queueIdOf(localId, keys.shard, engine.shards.length),
      scheduledAtMs: Number(due),
    }
  }
  throw new StoreUnavailableError('The dead letter keeps changing while it is replayed')
}

async function readLetter(engine: Engine, queue: KnownQueue, rootId: number) {
  const k = queue.keys.queue(queue.localId)
  const [body, largePart] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hget(k.deadLetterRecords, String(rootId)),
      redis.hget(k.payloads, String(engine.jobIds.seqOf(rootId))),
    ]),
  )
  if (body === null) return null
  return unlessDamaged(
    () => {
      const record = decodeRecord(body, largePart)
      if (record.requestPart === null) return null
      return { attempts: record.earlier, request: decodeRequest(record.requestPart) }
    },
    () => null,
  )
}

async function whyNotReplayable(engine: Engine, queue: KnownQueue, rootId: number) {
  const chain = await readChain(engine, queue, rootId)
  if (chain === null) return { status: 'not_found' as const }
  if (isDamaged(chain)) return { status: 'damaged' as const }
  return chain.replayedAs === null
    ? { status: 'not_dead_lettered' as const }
    : { status: 'already_replayed' as const, jobId: chain.replayedAs }
}
