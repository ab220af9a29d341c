import { isBulkEnded } from '../../../domain/bulk/bulk.ts'
import { isOutage } from '../../../domain/errors.ts'
import { SetAside } from '../../../domain/set-aside.ts'
import type { BulkShard } from '../../../ports/bulk/bulk.ts'
import { hintWake, shardKeys, type Engine } from '../../base/engine/engine.ts'
import { ShardLock } from '../../base/engine/shard-lock.ts'
import { abortPart } from './abort-part.ts'
import type { BulkActs } from './acts.ts'
import { type BulkAct, type BulkPage, movedBy, moveOf } from './bulk-page.ts'
import { readBulk, readPart } from './records/bulk-records.ts'
import { type BulkRef, memberIn } from './records/bulk-steps.ts'
import { tendBulk, tendOutcome } from './bulk-tender.ts'
import { paceOf, restPart, roomOf } from './bulk-room.ts'
import { type CandidatePage, findCandidates } from './candidates.ts'
import { MOVE_PART } from '../mending/pages/page-steps.ts'

/** At most this many parts and bulks are read at once. Those that were worked on longest ago come first. */
const DUE_MAX = 1_000
/** A lock ends after this time when its holder has died and no longer renews it. */
const LOCK_MS = 5_000
/** Work that takes longer than this renews the lock as it goes on. */
const RENEW_MS = 1_000
/** A page is resent for this long, because a lost answer is no reason to leave it to another executor. */
const RESEND_MS = 2_000

/** Works off the bulks of one shard for one executor. Owns the executor's lock of these bulks. */
export function createBulkShard(engine: Engine, shard: number, acts: BulkActs): BulkShard {
  const keys = shardKeys(engine, shard)
  const lock = new ShardLock(engine, { key: keys.bulkLock, leaseMs: LOCK_MS })
  const setAside = new SetAside('bulk_job', engine)
  let pages = 0
  let renewAtMs = 0
  const takeLock = async (): Promise<boolean> => {
    const nowMs = engine.runner.redisNowMs(shard)
    const isOurs = await lock.take()
    renewAtMs = isOurs ? nowMs + RENEW_MS : 0
    return isOurs
  }
  const keepLock = async (): Promise<boolean> =>
    engine.runner.redisNowMs(shard) < renewAtMs || (await takeLock())
  return {
    shard,
    due: async () => {
      const nowMs = engine.runner.redisNowMs(shard)
      const flat = await engine.runner.read((redis) =>
        redis.zrange(keys.bulksDue, '0', String(DUE_MAX - 1), 'WITHSCORES'),
      )
      const listed = flat.flatMap((member, i) =>
        i % 2 === 0 ? [{ member, dueMs: Number(flat[i + 1]) }] : [],
      )
      const nextDueMs = listed.find(({ dueMs }) => dueMs > nowMs)?.dueMs ?? null
      const due = listed.filter(({ dueMs }) => dueMs <= nowMs)
      if (due.length === 0) return { work: [], nextDueMs }
      if (!(await takeLock())) return { work: [], nextDueMs: null }
      const work = due.flatMap(({ member }) => {
        const found = memberIn(member)
        return found === null ? [] : [{ team: found.ref.team, id: found.ref.id, kind: found.kind }]
      })
      return { work, nextDueMs }
    },
    takeLock,
    tend: async ({ team, id, kind }) => {
      pages += 1
      const nonce = `${lock.holder}.${pages}`
      if (kind === 'whole') return tendBulk(engine, { team, id })
      if (kind === 'outcome') return tendOutcome(engine, { team, id }, shard)
      await workPart({ engine, acts, shard, setAside, keepLock }, { team, id }, nonce)
    },
    redisNowMs: () => engine.runner.redisNowMs(shard),
  }
}

interface ShardParts {
  readonly engine: Engine
  readonly acts: BulkActs
  readonly shard: number
  readonly setAside: SetAside
  /** Renews the lock when it is time; false = another executor has it. */
  keepLock(): Promise<boolean>
}

/**
 * Works off one page. Another executor, such as one that was frozen and has lost its lock, may do so at the same time:
 * the step of a page is for one version of the part, so one of the two does all of it and the other nothing.
 */
async function workPart(parts: ShardParts, ref: BulkRef, nonce: string): Promise<void> {
  const { engine, shard, keepLock } = parts
  const [part, bulk] = await Promise.all([readPart(engine, shard, ref), readBulk(engine, ref)])
  if (part?.state !== 'running' || bulk === null || bulk.state === 'aborting' || isBulkEnded(bulk.state)) {
    await abortPart(engine, ref, { shard, part })
    return tendBulk(engine, ref)
  }
  const room = await roomOf(engine, ref, { bulk, part })
  if (room === 'stop') return tendBulk(engine, ref)
  if (room < 1) return restPart(engine, ref, { shard, bulk, part, nonce })
  const { perJobMs, jobsMax: most } = await paceOf(engine, { ref, bulk, shard })
  const jobsMax = Math.min(most, room)
  const isLast = await workPage(parts, { ref, bulk, part, shard, nonce, perJobMs, keepLock }, jobsMax)
  if (isLast) await tendBulk(engine, ref)
}

type PageStart = Omit<BulkPage, keyof CandidatePage>

/**
 * Answers whether the page was the last one of its part. When our own code or the step throws over a page, it is halved
 * until the job at fault is alone; that job counts as failed.
 */
async function workPage(parts: ShardParts, head: PageStart, jobsMax: number): Promise<boolean> {
  const { engine, keepLock } = parts
  for (let limit = jobsMax; limit > 0;) {
    if (!(await keepLock())) return false
    // With a smaller limit the candidates are sought again, so that the next page begins behind the last job of this
    // one.
    const page = { ...head, ...(await findCandidates(engine, { ...head, limit })) }
    try {
      const fits = await sendPage(parts, page)
      if (fits === null) return page.next === null
      limit = Math.min(fits, limit - 1)
    } catch (error) {
      if (isOutage(error) || page.candidates.length === 0) throw error
      if (page.candidates.length === 1) return skipJob(parts, page, error)
      limit = Math.min(limit - 1, Math.ceil(page.candidates.length / 2))
    }
  }
  return false
}

/** null = the page is done, or is another executor's. Else answers how many jobs the page may have. */
async function sendPage(parts: ShardParts, page: BulkPage): Promise<number | null> {
  const { engine, acts, shard } = parts
  const made = await callOf(parts, page)
  if ('fits' in made) return made.fits
  const answer = String(await engine.runner.run(made.call, RESEND_MS))
  if (answer === 'foreign_block') acts.dropBlocks(shard)
  const [status, , , , woken] = answer.split(' ')
  if (status === 'ok' && Number(woken) > 0) hintWake(engine, shard)
  return null
}

async function skipJob(parts: ShardParts, page: BulkPage, defect: unknown): Promise<boolean> {
  const misfits = page.candidates.map(({ jobId }) => {
    parts.setAside.note({ team: page.ref.team, bulk: page.ref.id, jobId }, defect)
    return { jobId, reason: 'damaged', isChange: false } as const
  })
  await sendPage(parts, { ...page, candidates: [], misfits: [...page.misfits, ...misfits] })
  return page.next === null
}

async function callOf({ engine, acts }: ShardParts, page: BulkPage): ReturnType<BulkAct> {
  if (page.candidates.length > 0) return acts.of[page.bulk.action](page)
  return { call: MOVE_PART.with(movedBy(shardKeys(engine, page.shard), moveOf(page))) }
}
