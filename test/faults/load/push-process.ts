/**
 * Pushes at a fixed pace from a process of its own, however late the answers are, and writes one line of JSON for each
 * answer or its absence. Reads a plan as JSON from its only argument; SIGTERM ends it once nothing is open.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { SeededRandom } from '../../simulation/story/seeded-random.ts'
import { bodyOf, drawPush, type PushDraw } from './push-mix.ts'
import type { PushPlan, PushRecord } from './push-record.ts'

const TICK_MS = 5
/** More than pushes that wait for Redis at once, at 2 s each: one that waits here would be answered late by our fault. */
const CONNECTIONS = 512
/** Beyond it pushes are left out, so that a target that answers nothing does not fill the memory. */
const OPEN_MAX = 5_000
const ANSWER_TIMEOUT_MS = 10_000
const REPEAT_AFTER_MS = 300
const TRIES_MAX = 40

const plan = JSON.parse(process.argv[2] ?? '') as PushPlan
const random = new SeededRandom(plan.seed)
const pool = new Pool(plan.url, {
  connections: CONNECTIONS,
  headersTimeout: ANSWER_TIMEOUT_MS,
  bodyTimeout: ANSWER_TIMEOUT_MS,
})
let isStopped = false
let sent = 0
let open = 0
process.once('SIGTERM', () => {
  isStopped = true
})

const startedAt = performance.now()
while (!isStopped) {
  const due = Math.floor(((performance.now() - startedAt) / 1000) * plan.perSecond)
  for (; sent < due && open < OPEN_MAX; sent += 1)
    void pushUntilKnown(drawPush(random, plan.firstPush + sent))
  await sleep(TICK_MS)
}
while (open > 0) await sleep(TICK_MS)
await pool.close()

async function pushUntilKnown(draw: PushDraw): Promise<void> {
  open += 1
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const record = await push(draw)
    process.stdout.write(`${JSON.stringify(record)}\n`)
    if (record.status === 201 || !draw.isRepeated) break
    await sleep(REPEAT_AFTER_MS)
  }
  open -= 1
}

async function push(draw: PushDraw): Promise<PushRecord> {
  const sentAtMs = Date.now()
  const from = performance.now()
  const headers = {
    authorization: `Bearer ${plan.token}`,
    'content-type': 'application/json',
    ...(draw.isRepeated ? { 'idempotency-key': `push-${draw.n}` } : {}),
  }
  const base = { draw, sentAtMs }
  try {
    const body = bodyOf(draw, plan.targetUrl)
    const answer = await pool.request({ path: '/api/jobs', method: 'POST', headers, body })
    const said = (await answer.body.json()) as { job_id?: number; scheduled_at?: string }
    return {
      ...base,
      tookMs: performance.now() - from,
      status: answer.statusCode,
      saysWhen: answer.headers['retry-after'] !== undefined,
      jobId: said.job_id ?? null,
      scheduledAtMs: said.scheduled_at === undefined ? null : Date.parse(said.scheduled_at),
    }
  } catch {
    const tookMs = performance.now() - from
    return { ...base, tookMs, status: null, saysWhen: false, jobId: null, scheduledAtMs: null }
  }
}
