import { randomBytes } from 'node:crypto'
import { isBulkEnded } from '../../domain/bulk/bulk.ts'
import { pageSizeAt, rateOfPart } from '../../domain/bulk/bulk-pace.ts'
import { isOutage } from '../../domain/errors.ts'
import { BULK_PAGE_JOBS_MAX } from '../../domain/limits.ts'
import { SetAside } from '../../domain/set-aside.ts'
import type { BulkShard } from '../../ports/bulk/bulk.ts'
import { hintWake, shardKeys, type Engine } from '../client/engine.ts'
import type { BulkRecord } from '../layout/bulk-record.ts'
import { BULK_PART } from '../layout/fields.ts'
import { abortPart } from './pages/abort-part.ts'
import type { BulkActs } from './pages/acts.ts'
import { type BulkAct, type BulkPage, movedBy, moveOf } from './pages/bulk-page.ts'
import { readBulk, readPart } from './records/bulk-records.ts'
import { type BulkRef, memberIn, partMember, TAKE_TURN } from './records/bulk-steps.ts'
import { tendBulk } from './bulk-tender.ts'
import { type CandidatePage, findCandidates } from './pages/candidates.ts'
import { MOVE_PART } from './pages/page-steps.ts'

/** Parts and bulks of one look. Those that were worked on least lately come first. */
const DUE_MAX = 1_000
/** How long a turn lasts that its holder does not renew, for it has died. */
const TURN_MS = 5_000
/** A piece of work that takes longer renews the turn as it goes on. */
const RENEW_MS = 1_000
/** A lost answer is no reason to leave the page to another executor. */
const RESEND_MS = 2_000

/** The bulks of one shard, for one executor. Owns its name as the holder of the shard's turn. */
export function createBulkShard(engine: Engine, shard: number, acts: BulkActs): BulkShard {
  const holder = randomBytes(6).toString('base64url')
  const keys = shardKeys(engine, shard)
  const setAside = new SetAside('bulk_job', engine)
  let pages = 0
  let renewAtMs = 0
  const takeTurn = async (): Promise<boolean> => {
    const nowMs = engine.runner.redisNowMs(shard)
    const isOurs = (await engine.runner.run(TAKE_TURN.with({ keys, holder, turnMs: TURN_MS }))) === 1
    renewAtMs = isOurs ? nowMs + RENEW_MS : 0
    return isOurs
  }
  const keepTurn = async (): Promise<boolean> =>
    engine.runner.redisNowMs(shard) < renewAtMs || (await takeTurn())
  return {
    shard,
    due: async () => {
      const nowMs = engine.runner.redisNowMs(shard)
      const flat = await engine.runner.read((redis) =>
        redis.zrange(...([keys.bulksDue, '0', String(DUE_MAX - 1), 'WITHSCORES'] as const)),
      )
      const listed = flat.flatMap((member, i) =>
        i % 2 === 0 ? [{ member, dueMs: Number(flat[i + 1]) }] : [],
      )
      const nextDueMs = listed.find(({ dueMs }) => dueMs > nowMs)?.dueMs ?? null
      const due = listed.filter(({ dueMs }) => dueMs <= nowMs)
      if (due.length === 0) return { work: [], nextDueMs }
      if (!(await takeTurn())) return { work: [], nextDueMs: null }
      const work = due.flatMap(({ member }) => {
        const found = memberIn(member)
        return found === null ? [] : [{ team: found.ref.team, id: found.ref.id, kind: found.kind }]
      })
      return { work, nextDueMs }
    },
    takeTurn,
    tend: async ({ team, id, kind }) => {
      pages += 1
      const nonce = `${holder}.${pages}`
      if (kind === 'whole') return tendBulk(engine, { team, id })
      await workPart({ engine, acts, shard, setAside, keepTurn }, { team, id }, nonce)
    },
    redisNowMs: () => engine.runner.redisNowMs(shard),
  }
}

interface ShardParts {
  readonly engine: Engine
  readonly acts: BulkActs
  readonly shard: number
  readonly setAside: SetAside
  /** Renews the turn when it is time; false when another executor has it. */
  keepTurn(): Promise<boolean>
}

/**
 * Works off one page. Whoever else does so meanwhile, as an executor that was frozen and has lost its turn, has done all of
 * it, or nothing: the step of a page is for one version of the part.
 */
async function workPart(parts: ShardParts, ref: BulkRef, nonce: string): Promise<void> {
  const { engine, shard, keepTurn } = parts
  const [part, bulk] = await Promise.all([readPart(engine, shard, ref), readBulk(engine, ref)])
  if (part?.state !== 'running' || bulk === null || bulk.state === 'aborting' || isBulkEnded(bulk.state)) {
    await abortPart(engine, ref, { shard, part })
    return tendBulk(engine, ref)
  }
  const { perJobMs, jobsMax } = await paceOf(engine, { ref, bulk, shard })
  const isLast = await workPage(parts, { ref, bulk, part, shard, nonce, perJobMs, keepTurn }, jobsMax)
  if (isLast) await tendBulk(engine, ref)
}

type PageHead = Omit<BulkPage, keyof CandidatePage>

/**
 * Answers whether it was the last one of the part. A page that our own code or the step throws over is halved until the
 * job it throws over is alone; that one counts as failed.
 */
async function workPage(parts: ShardParts, head: PageHead, jobsMax: number): Promise<boolean> {
  const { engine, keepTurn } = parts
  for (let limit = jobsMax; limit > 0;) {
    if (!(await keepTurn())) return false
    // With a smaller limit it is looked for again, so that the next page begins behind the last job of this one.
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

/** null = it is done, or is another executor's; else how many jobs the page may have. */
async function sendPage(parts: ShardParts, page: BulkPage): Promise<number | null> {
  const { engine, acts, shard } = parts
  const made = await callOf(parts, page)
  if ('fits' in made) return made.fits
  const answer = String(await engine.runner.run(made.call, RESEND_MS))
  if (answer === 'foreign_block') acts.dropBlock(shard)
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

/** How many jobs the next page may have, and how long the part rests after each of them. */
async function paceOf(
  engine: Engine,
  { ref, bulk, shard }: { readonly ref: BulkRef; readonly bulk: BulkRecord; readonly shard: number },
): Promise<{ readonly perJobMs: number; readonly jobsMax: number }> {
  const { ratePerSecond, startedAtMs } = bulk
  if (ratePerSecond === null) return { perJobMs: 0, jobsMax: BULK_PAGE_JOBS_MAX }
  const nowMs = engine.runner.redisNowMs(shard)
  const partRate = rateOfPart({
    ...{ ratePerSecond, runningMs: startedAtMs === null ? 0 : nowMs - startedAtMs },
    parts: await countRunning(engine, ref, bulk.shards),
  })
  return { perJobMs: 1000 / partRate, jobsMax: pageSizeAt(partRate, BULK_PAGE_JOBS_MAX) }
}

/** Parts that have not ended. One that is still to be made will take its share. */
async function countRunning(engine: Engine, ref: BulkRef, shards: readonly number[]): Promise<number> {
  const states = await engine.runner.read((redis) =>
    Promise.all(
      shards.map((shard) => redis.hget(shardKeys(engine, shard).bulkPart(partMember(ref)), BULK_PART.state)),
    ),
  )
  return states.filter((state) => state !== 'done' && state !== 'aborted').length
}
