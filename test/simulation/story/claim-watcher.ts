import { LOST_LEASES_MAX } from '../../../src/domain/limits.ts'
import { REAP } from '../../../src/redis/jobs/execute/finish/batch.ts'
import type { MemoryRedis } from '../redis/memory-redis.ts'
import type { Reply } from '../redis/redis-values.ts'
import type { SimulatedServer, ServerStep, StepWatcher } from '../redis/simulated-server.ts'

/** One job that a claim gave to an executor, as seen by the server. */
export interface Claim {
  readonly jobId: number
  readonly isCallback: boolean
  readonly token: string
  readonly executor: string
  /** The queue's limit at that moment; null = none. */
  readonly limit: number | null
  /** The flow settings of its queue at that moment; null = none. */
  readonly flow: string | null
  /** Shard prefix and local id of the queue. */
  readonly queue: string
}

const CLAIMS: ReadonlySet<string> = new Set(['claim', 'claim_suspects'])

/** Reads the data before and after every claim, because a claim must never break a limit, not even for a moment. */
export class ClaimWatcher implements StepWatcher {
  /** By job id and token. */
  readonly claims = new Map<string, Claim>()
  readonly #server: SimulatedServer
  readonly #onRescue: (executor: string, what: 'deadline' | 'unknown') => void
  readonly #complain: (problem: string) => void
  /** Virtual times at which each lease was renewed, by executor and shard. */
  readonly #beats = new Map<string, number[]>()
  readonly #losses = new Map<string, number>()
  readonly #requests = new Map<string, string>()
  #highestMs = 0
  #wallMs = 0
  #highestToken = new Map<string, number>()
  /** Of the queues that a claim asks, just before it. */
  #before = new Map<string, { readonly inFlight: number; readonly active: string | null }>()
  /** When jobs of queues with a rate began, by the time of the shard. */
  readonly #begins = new Map<string, { limit: string; times: number[] }>()

  constructor(
    server: SimulatedServer,
    complain: (problem: string) => void,
    onRescue: (executor: string, what: 'deadline' | 'unknown') => void,
  ) {
    this.#onRescue = onRescue
    this.#server = server
    this.#complain = complain
  }

  before({ script, keys }: ServerStep): void {
    const { wallMs } = this.#server
    this.#highestMs = Math.max(this.#highestMs, wallMs)
    // Times before and after a clock was set back cannot be compared, even when no job began between.
    if (wallMs < this.#wallMs) this.#begins.clear()
    this.#wallMs = wallMs
    if (!CLAIMS.has(script)) return
    this.#before = new Map(
      slotKeysOf(keys).map((key) => {
        const active = this.#redis.run('hget', [key.replace(':a:', ':q:'), 'a']) as string | null
        return [key, { inFlight: this.#count(key), active }]
      }),
    )
  }

  after({ script, keys, args }: ServerStep, reply: Reply): void {
    if (script === 'reap') this.#countLosses(keys, args, reply)
    if (script === 'beat' && (reply as string[])[0] === 'ok') this.#noteBeat(keys[0] ?? '', args[1] ?? '')
    if (!CLAIMS.has(script)) return
    const [status, now, token, , , , jobs, names] = reply as [
      string,
      string,
      string,
      string,
      number,
      string[],
      Reply[],
      Reply[],
    ]
    if (status !== 'ok' || jobs.length === 0) return
    for (const key of slotKeysOf(keys)) this.#checkLimit(key)
    this.#checkToken(keys[0] ?? '', args[2] ?? '', token)
    const slotKeys = slotKeysOf(keys)
    let at = 0
    while (at < jobs.length) {
      const key = slotKeys[Number(jobs[at]) - 1] as string
      const [, , beginMs = now] = String(names[names.indexOf(jobs[at] as Reply) + 1]).split('\n')
      const end = at + 2 + 2 * Number(jobs[at + 1])
      for (at += 2; at < end; at += 2) {
        if (this.#note(Number(jobs[at]), key, token, args[1] ?? '')) this.#checkRate(key, Number(beginMs))
        this.#checkDue(Number(jobs[at]), String(jobs[at + 1]))
      }
    }
  }

  #noteBeat(clockKey: string, executor: string): void {
    const key = `${executor} ${shardOf(clockKey)}`
    const times = this.#beats.get(key) ?? []
    times.push(this.#server.nowMs)
    this.#beats.set(key, times)
  }

  /** When the lease of a claim was last renewed before this time. */
  lastBeat({ executor, queue }: Claim, beforeMs: number): number {
    return this.#beats.get(`${executor} ${shardOf(queue)}`)?.findLast((ms) => ms <= beforeMs) ?? 0
  }

  /** The last allowed loss fails the attempt, no earlier one does. */
  #countLosses(keys: readonly string[], args: readonly string[], reply: Reply): void {
    const [status, , , codes] = reply as [string, string, number, string]
    const isTaken = status === 'ok' && /[bf]/.test(codes)
    if (isTaken && (args[2] === 'deadline' || args[2] === 'unknown')) this.#onRescue(args[1] ?? '', args[2])
    if (status !== 'ok' || (args[2] !== 'lease' && args[2] !== 'deadline')) return
    for (const [i, { id, localId }] of reapedJobs(args).entries()) {
      const code = codes[i] ?? ''
      const head = keys.find((key) => key.endsWith(`:q:${localId}`)) as string
      // A deleted queue has no counters any more.
      if (this.#redis.run('hlen', [head]) === 0) continue
      const key = `${/:q:1099\d+$/.test(head) ? 'callback' : 'job'} ${id}`
      const losses = (this.#losses.get(key) ?? 0) + 1
      if (code === 'b') this.#losses.set(key, losses)
      const isRight = code === 'b' ? losses < LOST_LEASES_MAX : code !== 'f' || losses === LOST_LEASES_MAX
      if (!isRight) this.#complain(`${key} was judged ${code} at its lost lease ${losses}`)
    }
  }

  #count(slotKey: string): number {
    // Waiting suspects hold slots without a call.
    return this.#redis.run('zcount', [slotKey, '-inf', '(9000000000000000']) as number
  }

  get #redis(): MemoryRedis {
    return this.#server.redis
  }

  #checkLimit(key: string): void {
    const { inFlight = 0, active } = this.#before.get(key) ?? {}
    const now = this.#count(key)
    if (now <= inFlight) return
    const max = this.#redis.run('hget', [key.replace(':a:', ':q:'), 'm']) as string | null
    if (max !== null && now > Number(max)) this.#complain(`a claim made ${now} of ${max} in flight in ${key}`)
    if (active !== '1') this.#complain(`a claim took jobs of a paused or throttled queue, ${key}`)
  }

  #checkToken(shard: string, request: string, token: string): void {
    const same = this.#requests.get(`${shard} ${request}`) === token
    const highest = this.#highestToken.get(shard) ?? 0
    if (!same && Number(token) <= highest) this.#complain(`token ${token} follows ${highest}`)
    this.#requests.set(`${shard} ${request}`, token)
    this.#highestToken.set(shard, Math.max(highest, Number(token)))
  }

  #checkDue(jobId: number, record: string): void {
    const dueMs = Number(record.slice(0, 13))
    if (dueMs > this.#highestMs) {
      this.#complain(`job ${jobId} was claimed ${dueMs - this.#highestMs} ms early`)
    }
  }

  /** @returns false when the claim was noted before */
  #note(jobId: number, key: string, token: string, executor: string): boolean {
    const isCallback = /:a:1099\d+$/.test(key)
    const name = `${jobId} ${isCallback ? 'callback' : token}`
    // A repeated reply describes the claim as it was made.
    if (!isCallback && this.claims.has(name)) return false
    const max = this.#redis.run('hget', [key.replace(':a:', ':q:'), 'm'])
    const limit = max === null ? null : Number(max)
    const flow = this.#redis.run('hget', [key.replace(':a:', ':q:'), 'j']) as string | null
    this.claims.set(name, { jobId, isCallback, token, executor, limit, flow, queue: key })
    return true
  }

  /** In no span of its period may more jobs begin than the rate of the queue allows. */
  #checkRate(key: string, nowMs: number): void {
    const flow = this.#redis.run('hget', [key.replace(':a:', ':q:'), 'j']) as string | null
    const [limit = '', period = ''] = (flow ?? '').split('|')
    if (limit === '') return void this.#begins.delete(key)
    const known = this.#begins.get(key)
    const begins = known?.limit === flow ? known : { limit: flow ?? '', times: [] }
    begins.times.push(nowMs)
    this.#begins.set(key, begins)
    const count = begins.times.filter((ms) => ms > nowMs - Number(period)).length
    if (count > Number(limit)) this.#complain(`${count} jobs of ${limit} began within ${period} ms in ${key}`)
  }
}

function shardOf(key: string): string {
  return key.slice(0, key.indexOf('}'))
}

function slotKeysOf(keys: readonly string[]): string[] {
  return keys.filter((key) => /:a:\d+$/.test(key))
}

/** Id, record and facts. */
const WORDS_PER_JOB = 3

/** The jobs that a `reap` names, in its order. */
function reapedJobs(
  args: readonly string[],
): ReadonlyArray<{ readonly id: string; readonly localId: string }> {
  const { rows, args: names } = REAP.shape
  const localIds: string[] = []
  let at: number = names.length
  for (const [group, row] of Object.entries(rows)) {
    const words: readonly string[] = 'args' in row ? row.args : []
    const count = Number(args[at])
    if (group === 'plainQueues' || group === 'queues') {
      for (let i = 0; i < count; i += 1) localIds.push(args[at + 1 + i * words.length] ?? '')
    }
    at += 1 + count * words.length
  }
  const places = args[names.indexOf('places')] ?? ''
  const queues = [...places.matchAll(/(\d+) (\d+);/g)].flatMap(([, position, count]) =>
    Array.from({ length: Number(count) }, () => localIds[Number(position) - 1] ?? ''),
  )
  return queues.map((localId, i) => ({ id: args[at + i * WORDS_PER_JOB] ?? '', localId }))
}
