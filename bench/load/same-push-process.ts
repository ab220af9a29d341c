/**
 * Makes one push again and again, over sockets without an HTTP client, so that the load costs less than what it
 * measures. Reads an SamePushPlan from its only argument and writes an SamePushReport.
 */
import { connect, type Socket } from 'node:net'
import type { Latencies, SamePushPlan, SamePushReport } from './same-push-plan.ts'

const TICK_MS = 1
/** After the last push, answers are waited for so long. */
const LAST_ANSWERS_MS = 10_000

interface Connection {
  readonly socket: Socket
  dueMs: number
  isBusy: boolean
  text: string
}

const plan = JSON.parse(process.argv[2] ?? '') as SamePushPlan
const REQUEST = [
  'POST /api/jobs HTTP/1.1',
  'Host: 127.0.0.1',
  `Authorization: Bearer ${plan.token}`,
  'Content-Type: application/json',
  `Content-Length: ${Buffer.byteLength(plan.body)}`,
  '',
  plan.body,
].join('\r\n')

const accepted: number[] = []
const refused: number[] = []
const lateness: number[] = []
const others: Record<string, number> = {}
const idle: Connection[] = []
const due: number[] = []
let [open, busy, opened] = [0, 0, 0]

const startedMs = performance.now()
const endMs = startedMs + plan.seconds * 1_000
if (plan.perSecond === null) {
  for (let i = 0; i < plan.connections; i += 1) add(startedMs)
} else {
  await pushAtPace(plan.perSecond)
}
await answersCame()
const report: SamePushReport = {
  seconds: plan.seconds,
  accepted: latenciesOf(accepted),
  refused: latenciesOf(refused),
  others,
  lateness: latenciesOf(lateness),
  connections: opened,
}
process.stdout.write(`${JSON.stringify(report)}\n`)
process.exit(0)

async function pushAtPace(perSecond: number): Promise<void> {
  for (let sent = 0; performance.now() < endMs;) {
    const all = Math.floor(((performance.now() - startedMs) / 1_000) * perSecond)
    for (; sent < all; sent += 1) due.push(startedMs + (sent / perSecond) * 1_000)
    sendDue()
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
}

function sendDue(): void {
  let at = 0
  for (; at < due.length; at += 1) {
    const dueMs = due[at] ?? 0
    const connection = idle.pop()
    if (connection !== undefined) send(connection, dueMs)
    else if (open < plan.connections) add(dueMs)
    else break
  }
  due.splice(0, at)
}

async function answersCame(): Promise<void> {
  while (performance.now() < endMs || (busy > 0 && performance.now() < endMs + LAST_ANSWERS_MS)) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  if (busy > 0) others['unanswered'] = busy
}

function add(dueMs: number): void {
  const socket = connect({ host: '127.0.0.1', port: plan.port, noDelay: true })
  const connection: Connection = { socket, dueMs: 0, isBusy: false, text: '' }
  open += 1
  opened += 1
  socket.setEncoding('latin1')
  socket.on('data', (text) => onText(connection, String(text)))
  socket.on('error', () => undefined)
  socket.on('close', () => onClose(connection))
  send(connection, dueMs)
}

function send(connection: Connection, dueMs: number): void {
  connection.dueMs = dueMs
  connection.isBusy = true
  busy += 1
  lateness.push(performance.now() - dueMs)
  connection.socket.write(REQUEST, 'latin1')
}

function onText(connection: Connection, text: string): void {
  connection.text = connection.text === '' ? text : connection.text + text
  const headEnd = connection.text.indexOf('\r\n\r\n')
  if (headEnd === -1) return
  const length = Number(/^content-length: (\d+)/im.exec(connection.text)?.[1] ?? 0)
  if (connection.text.length < headEnd + 4 + length) return
  onAnswer(connection, connection.text.slice(0, headEnd))
}

function onAnswer(connection: Connection, head: string): void {
  const nowMs = performance.now()
  const status = head.slice(9, 12)
  const isRefusal = (status === '503' || status === '429') && /^retry-after: \d/im.test(head)
  if (status === '201') accepted.push(nowMs - connection.dueMs)
  else if (isRefusal) refused.push(nowMs - connection.dueMs)
  else count(status)
  connection.isBusy = false
  connection.text = ''
  busy -= 1
  if (/^connection: close/im.test(head)) connection.socket.end()
  else if (plan.perSecond !== null) idle.push(connection)
  else if (nowMs < endMs) send(connection, nowMs)
}

function onClose(connection: Connection): void {
  open -= 1
  const at = idle.indexOf(connection)
  if (at !== -1) idle.splice(at, 1)
  if (connection.isBusy) {
    busy -= 1
    count('lost')
  }
  if (plan.perSecond === null && performance.now() < endMs) add(performance.now())
}

function count(what: string): void {
  others[what] = (others[what] ?? 0) + 1
}

function latenciesOf(values: readonly number[]): Latencies {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number): number => inHundredths(sorted[Math.floor(sorted.length * share)] ?? 0)
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), most: inHundredths(sorted.at(-1) ?? 0) }
}

function inHundredths(value: number): number {
  return Math.round(value * 100) / 100
}
