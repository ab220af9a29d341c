import { cronScheduleOf, type CronSettings } from '../../../src/domain/crons/cron.ts'
import { CRON_RECORDS_MAX } from '../../../src/domain/limits.ts'
import { createShardKeys } from '../../../src/redis/base/layout/keys.ts'
import { spreadOfCron } from '../../model/crons/cron-model.ts'
import type { ServerStep, SimulatedServer, StepWatcher } from '../redis/simulated-server.ts'

/** A decision is made this long before it is written at most: messages are slow, and sent again. */
const UNDER_WAY_MS = 15_000
const MADE_UP_MAX = 100
const LATE_MS_MAX = 60_000
/** Rows of the step: id, version, expected, next, deferred, forbids, ended, team, queue, missed. */
const CRON_ROWS = /^\d+ \d+ \S+ \S+ \S+ [01] \S+ \d+ \d+ \S+;/

interface TickRecord {
  readonly kind: string
  readonly tickMs: number
  /** The root id of a run, or how many ticks were missed. */
  readonly rest: number
}

interface WatchedCron {
  readonly name: string
  readonly settings: CronSettings
  readonly spreadMs: number
  /** Every tick of the time told. */
  readonly ticks: readonly number[]
  /** How many of them have been decided about. */
  decided: number
  /** Root ids. */
  readonly runs: Set<number>
}

interface Decision {
  readonly cron: WatchedCron
  readonly nowMs: number
  readonly records: readonly TickRecord[]
  /** null = it can no longer be told. */
  readonly wasRunning: boolean | null
}

/**
 * Sees each step that decides about ticks, for Redis keeps only the last records, and holds it against the policies as
 * the reference tells them. Ticks are decided about in their order, each once, none left out.
 */
export class TickWatcher implements StepWatcher {
  readonly #server: SimulatedServer
  readonly #complain: (problem: string) => void
  /** By the key of its records. */
  readonly #crons = new Map<string, WatchedCron>()
  #before = new Map<string, readonly string[]>()
  readonly counts = { run: 0, skipped: 0, missed: 0 }

  constructor(server: SimulatedServer, complain: (problem: string) => void) {
    this.#server = server
    this.#complain = complain
  }

  watch(
    name: string,
    settings: CronSettings,
    place: { cronId: number; shards: number; untilMs: number },
  ): void {
    const { cronId, shards, untilMs } = place
    const schedule = cronScheduleOf(settings)
    if ('problem' in schedule) throw new Error(schedule.problem)
    const ticks = schedule.between(this.#server.wallMs, untilMs, Infinity)
    const spreadMs = spreadOfCron({ cronId, settings })
    const cron = { name, settings, spreadMs, ticks, decided: 0, runs: new Set<number>() }
    for (let shard = 0; shard < shards; shard += 1) {
      this.#crons.set(createShardKeys(shard).cronRecords(String(cronId)), cron)
    }
  }

  get crons(): ReadonlySet<WatchedCron> {
    return new Set(this.#crons.values())
  }

  before({ script, keys }: ServerStep): void {
    if (script !== 'tick') return
    this.#before = new Map(keys.filter((key) => this.#crons.has(key)).map((key) => [key, this.#list(key)]))
  }

  after({ script, keys, args }: ServerStep): void {
    if (script !== 'tick') return
    for (const [key, former] of this.#before) {
      const added = addedTo(former, this.#list(key))
      const cron = this.#crons.get(key)
      // With so many runs the record of what was missed before them is one too many at once.
      const dropped = added.length === CRON_RECORDS_MAX ? missedIn(args, key) : []
      const records = [...added, ...dropped].map(readRecord).toReversed()
      if (cron === undefined || records.length === 0) continue
      const isRunning = former.some((text) => text.startsWith('r|'))
      const wasRunning = isRunning || (former.length < CRON_RECORDS_MAX ? false : null)
      // Where the clock was put back the step's time stands for a while.
      const seen = this.#server.redis.run('hget', [keys[0] ?? '', 't'])
      this.#judge({ cron, records, wasRunning, nowMs: Math.max(Number(seen), this.#server.wallMs) })
    }
  }

  #list(key: string): readonly string[] {
    return this.#server.redis.run('lrange', [key, '0', '-1']) as string[]
  }

  #judge(decision: Decision): void {
    const { cron, records, nowMs } = decision
    for (const record of records) this.#follow(cron, record)
    const problem = earlyProblem(decision) ?? policyProblem(decision)
    if (problem !== null) {
      const shown = records.map(
        ({ kind, tickMs, rest }) => `${kind} ${new Date(tickMs).toISOString()} ${rest}`,
      )
      this.#complain(
        `cron ${cron.name} ${problem} (at ${new Date(nowMs).toISOString()}: ${shown.join(', ')})`,
      )
    }
  }

  #follow(cron: WatchedCron, { kind, tickMs, rest }: TickRecord): void {
    cron.decided += kind === 'm' ? rest : 1
    const expectedMs = cron.ticks[cron.decided - 1]
    if (expectedMs !== tickMs)
      this.#complain(`cron ${cron.name} noted ${tickMs}, and ${expectedMs} was to come`)
    if (kind === 'r') cron.runs.add(rest)
    if (kind === 'm') this.counts.missed += rest
    else this.counts[kind === 'r' ? 'run' : 'skipped'] += 1
  }
}

function addedTo(former: readonly string[], now: readonly string[]): readonly string[] {
  const [newest] = former
  const added = newest === undefined ? now.length : now.indexOf(newest)
  return now.slice(0, added === -1 ? now.length : added)
}

function missedIn(args: readonly string[], key: string): string[] {
  const crons = args.find((arg) => CRON_ROWS.test(arg)) ?? ''
  const words = crons.split(';').map((cron) => cron.split(' '))
  const missed = words.find(([id]) => key.endsWith(`:${id}`))?.at(-1)
  return missed?.startsWith('m') === true ? [missed] : []
}

function readRecord(text: string): TickRecord {
  const [kind = '', tick, rest] = text.split('|')
  return { kind, tickMs: Number(tick), rest: Number(rest) }
}

/** Neither a run nor a miss comes before its time by the clock of Redis. */
function earlyProblem({ cron, records, nowMs }: Decision): string | null {
  const dueMs = Math.max(...records.map(({ tickMs }) => tickMs)) + cron.spreadMs
  return dueMs > nowMs ? `was early by ${dueMs - nowMs} ms` : null
}

/** What the policies ask of one decision, told anew from the reference. */
function policyProblem({ cron, records, nowMs, wasRunning }: Decision): string | null {
  const { missedRunPolicy, concurrencyPolicy, startingDeadlineSeconds } = cron.settings
  const missed = records.filter(({ kind }) => kind === 'm')
  const due = records.filter(({ kind }) => kind !== 'm')
  const runsMax = missedRunPolicy === 'all' ? MADE_UP_MAX : 1
  const latestMs = missedRunPolicy === 'skip' ? LATE_MS_MAX : Infinity
  const lateMax = startingDeadlineSeconds === null ? latestMs : startingDeadlineSeconds * 1_000
  const lateness = ({ tickMs }: TickRecord) => nowMs - tickMs - cron.spreadMs
  if (due.length > runsMax) return `made up for ${due.length} ticks`
  if (due.some((one) => lateness(one) > lateMax + UNDER_WAY_MS)) return 'ran a tick that was missed for good'
  const hasPlace = due.length < runsMax
  if (hasPlace && missed.some((one) => lateness(one) <= lateMax)) return 'missed a tick that could run'
  const nextMs = cron.ticks[cron.decided]
  if (nextMs !== undefined && nextMs + cron.spreadMs <= nowMs - UNDER_WAY_MS) return 'left a due tick'
  const kinds = due.map(({ kind }) => kind).join('')
  if (concurrencyPolicy === 'allow') return kinds.includes('k') ? 'skipped a tick though it need not' : null
  if (wasRunning === null || kinds === '') return null
  const isRight = wasRunning ? /^k+$/.test(kinds) : /^rk*$/.test(kinds)
  return isRight ? null : `has runs at once, or skipped for none: ${kinds}`
}
