/**
 * The target of the scenarios, as a pod: keeps which calls arrived and how many were in flight at once, per label.
 * POST /calls/<label>?delay_ms=…&status=… is what jobs call; GET /reports/<label> tells; DELETE forgets. It is mounted
 * alone, so it imports nothing of ours.
 */
import { createServer } from 'node:http'

const PORT = 8080
const DELAY_MS_MAX = 300_000
/** Beyond it calls are still counted, but no longer told apart. */
const CALLS_KEPT_MAX = 200_000

export interface Report {
  readonly arrivals: number
  /** By `webhook-id`, which all calls of one job share: how often it arrived. */
  readonly calls: Readonly<Record<string, number>>
  readonly inFlight: number
  readonly mostInFlight: number
  /** Unix time in milliseconds; null before any. */
  readonly firstArrivalMs: number | null
  readonly lastArrivalMs: number | null
}

interface Ledger extends Report {
  readonly calls: Record<string, number>
  arrivals: number
  inFlight: number
  mostInFlight: number
  firstArrivalMs: number | null
  lastArrivalMs: number | null
}

const ledgers = new Map<string, Ledger>()

function ledgerOf(label: string): Ledger {
  const known = ledgers.get(label)
  if (known !== undefined) return known
  const fresh = {
    arrivals: 0,
    calls: {},
    inFlight: 0,
    mostInFlight: 0,
    firstArrivalMs: null,
    lastArrivalMs: null,
  }
  ledgers.set(label, fresh)
  return fresh
}

function arrive(ledger: Ledger, id: string): void {
  const now = Date.now()
  ledger.arrivals += 1
  if (ledger.arrivals <= CALLS_KEPT_MAX) ledger.calls[id] = (ledger.calls[id] ?? 0) + 1
  ledger.inFlight += 1
  ledger.mostInFlight = Math.max(ledger.mostInFlight, ledger.inFlight)
  ledger.firstArrivalMs ??= now
  ledger.lastArrivalMs = now
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://target')
  const [, kind, label = ''] = pathname.split('/')
  request.resume()
  if (kind === 'reports') {
    if (request.method === 'DELETE') ledgers.delete(label)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(ledgerOf(label)))
    return
  }
  const ledger = ledgerOf(label)
  arrive(ledger, String(request.headers['webhook-id']))
  const delayMs = Math.min(Number(searchParams.get('delay_ms') ?? 0), DELAY_MS_MAX)
  const timer = setTimeout(() => {
    response.statusCode = Number(searchParams.get('status') ?? 200)
    response.end('thanks')
  }, delayMs)
  response.once('close', () => {
    clearTimeout(timer)
    ledger.inFlight -= 1
  })
})

server.listen(PORT)
process.once('SIGTERM', () => process.exit(0))
