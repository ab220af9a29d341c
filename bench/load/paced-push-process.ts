/**
 * Pushes over HTTP from a process of its own. Reads a plan as JSON from its only argument, ends by itself, and writes
 * one line of JSON: how many were accepted, how many of these after their due time, and how many refused. Open loop
 * when `perSecond` is given, else as fast as `connections` allow.
 */
import { Pool } from 'undici'
import { setTimeout as sleep } from 'node:timers/promises'
import { fillIn, type PushPlan, type PushReport } from './push-plan.ts'

const TICK_MS = 5
const WAITING_MAX = 20_000

const plan = JSON.parse(process.argv[2] ?? '') as PushPlan
const { origin } = new URL(plan.url)
const pool = new Pool(origin, { connections: plan.connections, pipelining: 1 })
let accepted = 0
let acceptedLate = 0
let refused = 0
let sent = 0
let open = 0

if (plan.perSecond === null) {
  await Promise.all(Array.from({ length: plan.connections }, () => pushInTurn()))
} else {
  await pushAtPace(plan.perSecond)
}
await pool.close()
const report: PushReport = { accepted, acceptedLate, refused }
process.stdout.write(`${JSON.stringify(report)}\n`)

async function pushInTurn(): Promise<void> {
  while (sent < plan.count) await push()
}

async function pushAtPace(perSecond: number): Promise<void> {
  const startedAt = performance.now()
  while (sent < plan.count) {
    const due = Math.min(plan.count, Math.floor(((performance.now() - startedAt) / 1000) * perSecond))
    while (sent < due && open < WAITING_MAX) void push()
    await sleep(TICK_MS)
  }
  while (open > 0) await sleep(TICK_MS)
}

async function push(): Promise<void> {
  const index = sent
  sent += 1
  open += 1
  const nowMs = Date.now()
  const { path, body } = fillIn(plan, index, nowMs)
  try {
    const answer = await pool.request({ path, method: 'POST', headers: plan.headers, body })
    await answer.body.dump()
    if (answer.statusCode >= 300) refused += 1
    else accepted += 1
    if (plan.dueInMs > 0 && Date.now() > nowMs + plan.dueInMs) acceptedLate += 1
  } catch {
    refused += 1
  } finally {
    open -= 1
  }
}
