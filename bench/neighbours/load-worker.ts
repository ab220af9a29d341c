/** Sends one request again and again over several connections, from a thread of its own, until it gets a message. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { Pool } from 'undici'
import type { CostlyRequest } from './costly-requests.ts'

export interface LoadPlan {
  readonly url: string
  readonly request: CostlyRequest
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
}

/** How many answers had each status. */
export type LoadReport = Readonly<Record<number, number>>

const REFUSED: ReadonlySet<number> = new Set([0, 429, 503])
/** Less than a client waits that obeys `Retry-After`. */
const REFUSED_PAUSE_MS = 100

const { url, request, headers, connections } = workerData as LoadPlan
const body = request.body === undefined ? null : Buffer.from(request.body)
const statuses: Record<number, number> = {}
let isOver = false

async function ask(pool: Pool): Promise<void> {
  while (!isOver) {
    const { path, method } = request
    const status = await statusOf(pool.request({ path, method, headers, body }))
    statuses[status] = (statuses[status] ?? 0) + 1
    if (REFUSED.has(status)) await sleep(REFUSED_PAUSE_MS)
  }
}

/** 0 = the connection was closed, as the API does with those who send what it has refused. */
async function statusOf(asked: ReturnType<Pool['request']>): Promise<number> {
  try {
    const { statusCode, body: answer } = await asked
    await answer.dump()
    return statusCode
  } catch {
    return 0
  }
}

parentPort?.once('message', () => {
  isOver = true
})
const pool = new Pool(url, { connections, pipelining: 1 })
await Promise.all(Array.from({ length: connections }, () => ask(pool)))
await pool.close()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(statuses satisfies LoadReport)
