import { StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import { STORE_DEADLINE_MS } from '../../domain/limits.ts'
import type { CronStore } from '../../ports/crons.ts'
import { hintWake, type Engine } from '../base/engine/engine.ts'
import { findCron } from './cron-reader.ts'
import { endedAmong } from './ended-runs.ts'
import { TickSender } from './tick/tick-sender.ts'

/** Retries for a run whose cron or queue is changed at the same time. */
const TRIES_MAX = 4
const RESEND_MS = STORE_DEADLINE_MS / 2

/** Makes runs by hand. Throws StoreUnavailableError and StorageFullError. */
export function createRunNow(engine: Engine): CronStore['runNow'] {
  const senders = engine.shards.map((keys) => new TickSender(engine, { keys, resendForMs: RESEND_MS }))
  return async (team, cronId, callDepth = 0) => {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const found = await findCron(engine, cronId)
      if (found === null || found.cron.team !== team) return { status: 'not_found' }
      const { keys, cron } = found
      const { version, running } = found.state
      const ended = await endedAmong(engine, running === null ? [] : [running])
      const endedRun = running !== null && ended.has(running) ? running : null
      const run = [engine.runner.redisNowMs(keys.shard)]
      const { settings } = cron
      const sender = senders[keys.shard] as TickSender
      const queue = await sender.queueOf({ cronId, team, settings })
      if (typeof queue === 'string')
        throw new StoreUnavailableError('The queue limit of this shard is reached')
      const byHand = { expectedMs: null, nextMs: null, deferredToMs: null, missed: null, callDepth }
      const step = await sender.prepare([
        { cronId, team, version, settings, endedRun, run, queue, ...byHand },
      ])
      const { woken, outcomes } = await sender.send(step)
      const [outcome] = outcomes
      const jobId = step.entries[0]?.runs[0]?.jobId
      if (outcome?.code === 'running') return { status: 'still_running', jobId: Number(outcome.value) }
      if (outcome?.code === 'draining') return { status: 'queue_draining', queue: settings.queue ?? '' }
      if (outcome?.code === 'over_share') throw new StorageFullError()
      if (outcome?.code !== 'done' || jobId === undefined) continue
      if (woken > 0) hintWake(engine, keys.shard)
      return { status: 'started', jobId, scheduledAtMs: Number(outcome.value) }
    }
    throw new StoreUnavailableError('The cron keeps changing while it is run')
  }
}
