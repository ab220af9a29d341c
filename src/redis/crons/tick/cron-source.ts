import { TICK_BATCH_BYTES_MAX, TICK_BATCH_MAX } from '../../../domain/limits.ts'
import type { CronSource, DecidedCron, DueCron, PreparedTicks, TickAnswer } from '../../../ports/crons.ts'
import { NO_TRACING, type SendSpan, type Tracing } from '../../../ports/tracing/tracing.ts'
import { hintWake, shardKeys, type Engine } from '../../base/engine/engine.ts'
import { learnShardTime } from '../../base/engine/shard-clock.ts'
import { endedAmong } from '../ended-runs.ts'
import { CronQuarantine } from './cron-quarantine.ts'
import { DueCrons } from './due-crons.ts'
import type { TickEntry } from './tick-call.ts'
import { TickSender, type PreparedTick } from './tick-sender.ts'

/** How long one tick is sent again; after that the caller reads the crons again. */
const RESEND_MS = 2_000

/** @param tracing begins the traces of runs; none unless given */
export function createCronSource(engine: Engine, shard: number, tracing: Tracing = NO_TRACING): CronSource {
  const keys = shardKeys(engine, shard)
  const sender = new TickSender(engine, { keys, resendForMs: RESEND_MS })
  const quarantine = new CronQuarantine(engine, () => engine.runner.redisNowMs(shard))
  const crons = new DueCrons(engine, { keys, quarantine })
  let isTimeKnown = false
  return {
    shard,
    quarantine: ({ cronId, team, name, expectedMs, spreadMs }, reason) =>
      quarantine.add({ cronId, team, name }, expectedMs + spreadMs, reason),
    nextDueMs: async () => {
      // Our own clock may be wrong, and would mark runnable ticks as missed.
      if (!isTimeKnown) await learnShardTime(engine, keys)
      isTimeKnown = true
      return crons.nextDueMs()
    },
    due: (skip) => crons.due(skip),
    upcoming: (afterMs, untilMs, limit) => crons.upcoming(afterMs, untilMs, limit),
    prepare: (decided) =>
      prepare(engine, sender, decided, (each) => spansOf(tracing, each, engine.runner.redisNowMs(shard))),
    hint: () => hintWake(engine, shard),
    redisNowMs: () => engine.runner.redisNowMs(shard),
  }
}

async function prepare(
  engine: Engine,
  sender: TickSender,
  decided: readonly DecidedCron[],
  beginSpans: (decided: DecidedCron) => ReadonlyArray<SendSpan | null>,
): Promise<PreparedTicks[]> {
  const running = decided.flatMap(({ cron }) => forbiddingRun(cron) ?? [])
  const ended = await endedAmong(engine, running)
  const prepared: PreparedTicks[] = []
  for (const page of pagesOf(decided)) {
    const entries: Array<TickEntry & Pick<PreparedTick['entries'][number], 'queue'>> = []
    for (const each of page) {
      const queue = each.run.length === 0 ? null : await sender.queueOf(each.cron)
      const canRun = typeof queue !== 'string'
      entries.push({
        ...entryOf(canRun ? each : withoutRuns(each), ended),
        queue: canRun ? queue : null,
        spans: canRun ? beginSpans(each) : [],
      })
    }
    const step = await sender.prepare(entries)
    prepared.push({ crons: entries.length, decided: page, send: () => send(sender, step) })
  }
  return prepared
}

async function send(sender: TickSender, step: PreparedTick): Promise<TickAnswer> {
  const { outcomes } = await sender.send(step)
  let started = 0
  let outdated = 0
  outcomes.forEach(({ code, value }, i) => {
    // '-' is no due time: the team's share of free memory allowed no run.
    const entry = code === 'done' && value !== '-' ? step.entries[i] : undefined
    started += entry?.run.length ?? 0
    entry?.runs.forEach(({ jobId }, nth) => entry.spans?.[nth]?.end(jobId))
    if (code === 'outdated' || code === 'missing') outdated += 1
  })
  return { started, outdated }
}

function spansOf(
  tracing: Tracing,
  { cron, run }: DecidedCron,
  nowMs: number,
): ReadonlyArray<SendSpan | null> {
  const { team, cronId, settings, spreadMs } = cron
  return run.map((tickMs) =>
    tracing.beginTick({ team, cronId, queue: settings.queue, dueInMs: tickMs + spreadMs - nowMs }),
  )
}

/**
 * Turns the runs into missed ticks, when the queue limit of the shard is reached: waiting would hold up all other
 * crons.
 */
function withoutRuns(decided: DecidedCron): DecidedCron {
  const { run, missed } = decided
  const firstMs = missed?.firstMs ?? run[0] ?? 0
  const lastMs = run.at(-1) ?? missed?.lastMs ?? firstMs
  return { ...decided, run: [], missed: { firstMs, lastMs, count: (missed?.count ?? 0) + run.length } }
}

function pagesOf(decided: readonly DecidedCron[]): DecidedCron[][] {
  const pages: DecidedCron[][] = []
  let runs = 0
  let bytes = 0
  for (const each of decided) {
    runs += each.run.length
    bytes += each.run.length * each.cron.bytes
    const page = pages.at(-1)
    if (page !== undefined && runs <= TICK_BATCH_MAX && bytes <= TICK_BATCH_BYTES_MAX) {
      page.push(each)
      continue
    }
    pages.push([each])
    runs = each.run.length
    bytes = each.run.length * each.cron.bytes
  }
  return pages
}

/**
 * The running job of a cron that forbids concurrency. Its end is looked up, because a run that is gone without reporting
 * its end would block the cron for good.
 */
function forbiddingRun({ settings, running }: DueCron): number | null {
  return settings.concurrencyPolicy === 'forbid' ? running : null
}

function entryOf(
  { cron, run, missed, nextMs, deferredToMs }: DecidedCron,
  ended: ReadonlySet<number>,
): TickEntry {
  const { cronId, team, version, settings, expectedMs } = cron
  const running = forbiddingRun(cron)
  const endedRun = running !== null && ended.has(running) ? running : null
  return {
    cronId,
    team,
    version,
    settings,
    expectedMs,
    nextMs,
    deferredToMs: deferredToMs ?? null,
    missed,
    run,
    endedRun,
  }
}
