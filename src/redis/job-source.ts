import {
  CLAIM_BATCH_BYTES_MAX,
  CLAIM_BATCH_MAX,
  FAIR_QUANTUM,
  FINISHED_CHAINS_SLACK,
  HARD_DEADLINE_GRACE_MS,
  LEASE_MS,
  LOST_LEASES_MAX,
  REAP_BATCH_MAX,
} from '../domain/limits.ts'
import { effectiveSettings } from '../domain/attempt-end.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../domain/queue-settings.ts'
import type { ClaimAnswer, ClaimedWork, JobSource, WorkEnd } from '../ports/job-source.ts'
import { batchKeys } from './batch.ts'
import { hintWake, shardKeys, type Engine } from './engine.ts'
import { decodeRecord, decodeRequest, decodeSystemRequest } from './job-record.ts'
import { splitNameField, SYSTEM_QUEUE, type ShardKeys } from './keys.ts'
import { trimFinished } from './retention.ts'
import { createSettingsCache, type SettingsCache } from './settings-cache.ts'
import type { Argument } from './step-runner.ts'
import { blankBatchJob, toBatchJob } from './work-end.ts'

interface SentStep {
  readonly keys: string[]
  readonly args: Argument[]
}

type ClaimReply = [
  status: 'ok' | 'lost',
  now: string,
  token: string,
  nextDue: string,
  ringSize: number,
  candidates: string[],
  jobs: Array<string | number>,
  names: Array<string | number>,
  settings: string[],
]

/** How long one call of `claim` or `finish` goes on resending; the caller then calls again. */
const RESEND_MS = 2_000

/** Opens one executor's hold on one shard. */
export function createJobSource(engine: Engine, shard: number, executor: string): JobSource {
  const keys = shardKeys(engine, shard)
  const settings = createSettingsCache()
  let candidates: string[] = []
  let claims = 0
  let finishes = 0
  let highestToken = '0'
  /** A claim or finish without an answer: sent again as it was, whatever is asked next. */
  let openClaim: SentStep | null = null
  let openFinish: (SentStep & { ends: readonly WorkEnd[] }) | null = null
  let lastJumps: [number, number] | null = null

  function newClaim(wanted: number): SentStep {
    claims += 1
    return {
      keys: [
        ...[keys.clk, keys.ex, keys.held(executor), keys.ring, keys.tok, keys.set, keys.near],
        ...candidates.flatMap((id) => {
          const { q, r, b, a, p } = keys.queue(id)
          return [q, r, b, a, p]
        }),
      ],
      args: [
        ...[LEASE_MS, executor, `${executor}:${claims}`, Math.min(wanted, CLAIM_BATCH_MAX)],
        ...[CLAIM_BATCH_BYTES_MAX, FAIR_QUANTUM, HARD_DEADLINE_GRACE_MS, highestToken],
        ...[
          claims * CLAIM_BATCH_MAX,
          CLAIM_BATCH_MAX,
          engine.shards.length,
          candidates.length,
          ...candidates,
        ],
      ],
    }
  }

  async function claim(wanted: number): Promise<ClaimAnswer> {
    if (openClaim === null) {
      if (candidates.length === 0) candidates = await peekRing(engine, keys)
      if (candidates.length === 0) return { status: 'claimed', work: [], runnable: 0, nextDueMs: null }
      openClaim = newClaim(wanted)
    }
    const reply = (await engine.runner.run('claim', openClaim.keys, openClaim.args, RESEND_MS)) as ClaimReply
    const asked = openClaim.args.slice(-candidates.length)
    openClaim = null
    if (reply[0] === 'lost') return { status: 'lease_lost' }
    const [, now, token, nextDue, ringSize] = reply
    engine.runner.noteRedisTime(shard, Number(now))
    if (token !== '') highestToken = token
    const work = readClaim(engine, keys, settings, reply, asked as string[])
    candidates = [...new Set(reply[5])]
    return { status: 'claimed', work, runnable: ringSize, nextDueMs: nextDue === '' ? null : Number(nextDue) }
  }

  async function finish(ends: readonly WorkEnd[]) {
    if (openFinish?.ends !== ends) {
      finishes += 1
      const batch = batchKeys(
        engine,
        keys,
        executor,
        ends.map((end) => toBatchJob(end, engine.jobIds)),
      )
      const trimAbove = engine.retention.finishedChainsMax + FINISHED_CHAINS_SLACK
      openFinish = {
        ends,
        keys: batch.keys,
        args: [LEASE_MS, `${executor}:${finishes}`, trimAbove, ...batch.args],
      }
    }
    const reply = await engine.runner.run('finish', openFinish.keys, openFinish.args, RESEND_MS)
    const [now, woken, dropped, codes, toTrim] = reply as [string, number, number, string, string[]]
    openFinish = null
    engine.runner.noteRedisTime(shard, Number(now))
    if (dropped > 0) engine.metrics.callRecordsDropped(dropped)
    if (woken > 0) hintWake(engine, shard)
    for (const queue of toTrim) await trimFinished(engine, keys, queue)
    return [...codes].map((code) => (code === 'd' ? ('done' as const) : ('stale' as const)))
  }

  async function beat(register: boolean) {
    const reply = await engine.runner.run(
      'beat',
      [keys.clk, keys.ex, keys.held(executor)],
      [LEASE_MS, executor, register ? 1 : 0],
    )
    const [status, now, held, forward, back] = reply as [string, string, number, number, number]
    engine.runner.noteRedisTime(shard, Number(now))
    if (status === 'lost') return { status: 'lease_lost' as const }
    noteJumps(forward, back)
    return { status: 'ok' as const, held }
  }

  function noteJumps(forward: number, back: number): void {
    if (lastJumps !== null && (forward > lastJumps[0] || back > lastJumps[1])) {
      const direction = forward > lastJumps[0] ? 'forward' : 'backward'
      engine.metrics.clockJumped(direction)
      engine.logger.warn('The clock of Redis jumped; leases were stamped anew', { shard, direction })
    }
    lastJumps = [forward, back]
  }

  async function giveBack(mode: 'unknown' | 'leave', known: ReadonlySet<number>): Promise<number> {
    const held = await engine.runner.read((redis) => redis.hgetall(keys.held(executor)))
    const unknown = Object.entries(held)
      .filter(([id]) => !id.startsWith('#') && !known.has(Number(id)))
      .map(([id, value]) => {
        const [queue = '', token = ''] = value.split('|')
        return blankBatchJob(Number(id), token, { queue, settingsHash: '', isLarge: false }, engine.jobIds)
      })
      // A token above the last one received belongs to a claim whose answer is still to come.
      .filter((job) => mode === 'leave' || Number(job.token) <= Number(highestToken))
    let count = 0
    do {
      const page = unknown.slice(count, count + REAP_BATCH_MAX)
      const batch = batchKeys(engine, keys, executor, page)
      await engine.runner.run(
        'reap',
        batch.keys,
        [LEASE_MS, executor, mode, 0, LOST_LEASES_MAX, Number.MAX_SAFE_INTEGER, ...batch.args],
        RESEND_MS,
      )
      count += page.length
    } while (count < unknown.length)
    if (count > 0) hintWake(engine, shard)
    return count
  }

  return {
    shard,
    claim,
    finish,
    beat,
    giveBackUnknown: (known) => giveBack('unknown', known),
    leave: async () => {
      await giveBack('leave', new Set())
    },
    redisNowMs: () => engine.runner.redisNowMs(shard),
  }
}

async function peekRing(engine: Engine, keys: ShardKeys): Promise<string[]> {
  return engine.runner.read((redis) => redis.zrange(keys.ring, '0', String(CLAIM_BATCH_MAX - 1)))
}

function readClaim(
  engine: Engine,
  keys: ShardKeys,
  settings: SettingsCache,
  reply: ClaimReply,
  asked: readonly string[],
): ClaimedWork[] {
  const [, now, token, , , , jobs, names, learnt] = reply
  const startedAtMs = Number(now)
  for (let i = 0; i < learnt.length; i += 2) {
    if (learnt[i + 1] !== '') settings.learn(learnt[i] as string, learnt[i + 1] as string)
  }
  const nameOf = new Map<number, string>()
  for (let i = 0; i < names.length; i += 2) nameOf.set(names[i] as number, names[i + 1] as string)
  const work: ClaimedWork[] = []
  for (let i = 0; i < jobs.length; i += 4) {
    const [id, index, text, large] = jobs.slice(i, i + 4) as [string, number, string, string]
    const queue = asked[index - 1] as string
    const record = decodeRecord(text, large)
    const place = { queue, settingsHash: record.settingsHash, isLarge: record.isLarge }
    const base = {
      shard: keys.shard,
      jobId: Number(id),
      token,
      startedAtMs,
      scheduledAtMs: record.dueMs,
      place,
    }
    const requestPart = record.requestPart ?? ''
    if (queue === SYSTEM_QUEUE) {
      const { team, ...callback } = decodeSystemRequest(requestPart)
      work.push({ kind: 'callback', ...base, team, callback, timeoutSeconds: record.timeoutSeconds })
      continue
    }
    const request = decodeRequest(requestPart)
    const frozen = settings.get(record.settingsHash)
    if (frozen === undefined) {
      engine.logger.error('A job names settings that are not stored; defaults are used', {
        jobId: base.jobId,
      })
    }
    const { team, queue: queueName } = splitNameField(nameOf.get(index) ?? '/')
    work.push({
      kind: 'job',
      ...base,
      team,
      queueName,
      rootId: engine.jobIds.rootOf(base.jobId),
      attempt: record.attempt,
      createdAtMs: record.createdAtMs,
      earlier: record.earlier,
      request,
      settings: effectiveSettings(frozen ?? DEFAULT_QUEUE_SETTINGS, request),
    })
  }
  return work
}
