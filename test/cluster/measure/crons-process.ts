/**
 * An API server of nothing but crons, in a process of its own so that its memory is not measured: tells its port, answers
 * lists in pages, and ends the first watch with `410 Gone`, after which everything is listed anew.
 * Arguments: crons, characters of a payload.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const CRONS = Number(process.argv[2])
const PAYLOAD_CHARACTERS = Number(process.argv[3])
const TEAMS = 50
/** Time for the garbage of the first list to be collected. */
const WATCH_MS = 4_000
const EXPIRED = { type: 'ERROR', object: { kind: 'Status', code: 410, message: 'too old' } }

/** As a real one is after its first runs. */
function cron(index: number): object {
  const team = `team-${index % TEAMS}`
  const condition = { status: 'True', observedGeneration: 1, lastTransitionTime: '2026-11-22T01:00:00Z' }
  const message = 'The settings are applied.'
  return {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'HttpCron',
    metadata: {
      name: `nightly-report-${index}`,
      namespace: team,
      uid: `4a4c1b2e-0000-4000-8000-${String(index).padStart(12, '0')}`,
      resourceVersion: String(1_000 + index),
      generation: 1,
      creationTimestamp: '2026-11-22T00:00:00Z',
      finalizers: ['punctual.dev/cron'],
      labels: { 'app.kubernetes.io/name': 'reports', 'app.kubernetes.io/instance': team },
    },
    spec: {
      url: `https://reports.example.com/nightly/${index}`,
      method: 'POST',
      headers: [{ name: 'Authorization', value: `Bearer ${String(index).padStart(60, '0')}` }],
      payload: String(index).padEnd(PAYLOAD_CHARACTERS, '.'),
      cronExpression: '*/5 * * * *',
      timeZone: 'Europe/Berlin',
      active: true,
      concurrencyPolicy: 'Allow',
      missedRunPolicy: 'Latest',
      jitterSeconds: 0,
      timeoutSeconds: 30,
      successAssertions: [],
    },
    status: {
      observedGeneration: 1,
      id: index,
      nextRunTime: '2026-11-22T02:00:00Z',
      lastRunTime: '2026-11-22T01:55:00Z',
      lastRunResult: 'Succeeded',
      lastSuccessTime: '2026-11-22T01:55:00Z',
      consecutiveFailures: 0,
      conditions: [
        { ...condition, type: 'Ready', reason: 'Reconciled', message },
        { ...condition, type: 'Scheduled', reason: 'Scheduled', message },
      ],
    },
  }
}

function answerList(response: ServerResponse, query: URLSearchParams): void {
  const from = Number(query.get('continue') ?? 0)
  const to = Math.min(CRONS, from + Number(query.get('limit') ?? CRONS))
  const metadata = { resourceVersion: '9', ...(to < CRONS ? { continue: String(to) } : {}) }
  const items = Array.from({ length: to - from }, (_, at) => cron(from + at))
  response.end(JSON.stringify({ metadata, items }))
}

let watches = 0

function answerWatch(response: ServerResponse): void {
  watches += 1
  response.flushHeaders()
  if (watches === 1) setTimeout(() => response.end(`${JSON.stringify(EXPIRED)}\n`), WATCH_MS)
}

const server = createServer((request, response) => {
  const query = new URL(request.url ?? '', 'http://localhost').searchParams
  if (query.has('watch')) answerWatch(response)
  else answerList(response, query)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())
