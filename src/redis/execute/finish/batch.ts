import { FINISHED_CHAINS_PER_CRON_SLACK, LEASE_MS, NEAR_DELAY_SECONDS_MAX } from '../../../domain/limits.ts'
import type { Mutes, WindowSource } from '../../../ports/windows.ts'
import { ALERT_TEAM, alertTeam } from '../../alerts/alert-teams.ts'
import type { Engine } from '../../client/engine.ts'
import { encodeAlertFacts } from '../../layout/alert-record.ts'
import { callbackQueueOf, queueIdOf, type ShardKeys } from '../../layout/keys.ts'
import { step } from '../../client/step.ts'
import { END } from '../../layout/fields.ts'
import { jobRows, type BatchJob, type EndedRun } from './batch-job.ts'

/** What `finish` and `reap` are both sent about queues and jobs. */
const BATCH = {
  keys: [
    ...(['clock', 'executors', 'heldJobs', 'ring', 'teams', 'teamNumbers', 'nearSet', 'minutes'] as const),
    ...(['settings', 'settingsUses', 'retentionDue', 'oldestCalls', 'shardUsage', 'teamUsage'] as const),
    ...(['suspects', 'cronStates', 'cronAlerts', 'statistics', 'statisticsLog'] as const),
  ],
  args: [
    ...(['shards', 'finishedMs', 'failedCallsMax', 'successfulCallsMax', 'callBytesMax'] as const),
    ...(['trimHiddenAbove', 'buckets'] as const),
  ],
  rows: {
    minutes: { keys: ['bucket'], args: ['minute'] },
    callbackQueues: {
      queueKeys: ['meta', 'ready', 'records', 'inFlight'],
      args: ['team', 'teamNumber', 'localId'],
    },
    queues: {
      queueKeys: [
        ...(['meta', 'ready', 'records', 'inFlight', 'payloads', 'deadLetters'] as const),
        ...(['deadLetterRecords', 'history', 'summaries'] as const),
        ...(['callRecords', 'failedCalls', 'successfulCalls'] as const),
      ],
      args: ['localId', 'callbackQueue'],
    },
    runs: {
      keys: ['cronRecords'],
      args: ['position', 'cronId', 'record', 'tick', 'reason', 'host', 'teamPosition'],
    },
    stretches: { args: ['queue', 'token', 'kind', 'settingsHash', 'count'] },
    alertTeams: { ...ALERT_TEAM, args: [...ALERT_TEAM.args, 'cronMutes'] },
    alerts: {
      args: ['position', 'teamPosition', 'type', 'reason', 'queueId', 'suppressedBy', 'facts'],
    },
    jobs: { args: ['id', 'record', 'facts'] },
  },
} as const

export const FINISH = step('finish', import.meta.url, {
  ...BATCH,
  args: ['leaseMs', 'finishId', ...BATCH.args],
})
export const REAP = step('reap', import.meta.url, {
  ...BATCH,
  args: ['leaseMs', 'executor', 'mode', 'marginMs', 'lossesMax', ...BATCH.args],
})

/** Estimates of Redis time are good to this; both minutes are declared near a boundary. */
const CLOCK_TOLERANCE_MS = 1500

/** The minute buckets a job due at about `dueMs` may fall into. */
export function minutesAround(dueMs: number): number[] {
  const first = Math.floor((dueMs - CLOCK_TOLERANCE_MS) / 60_000)
  const last = Math.floor((dueMs + CLOCK_TOLERANCE_MS) / 60_000)
  return first === last ? [first] : [first, last]
}

/** What a call of `finish` or `reap` says about its jobs. */
export async function batchValues(
  engine: Engine,
  keys: ShardKeys,
  { executor, jobs, windows }: { executor: string; jobs: readonly BatchJob[]; windows: WindowSource },
) {
  const { retention } = engine
  const callbacks = await callbackQueues(engine, keys, jobs)
  const queues = new Map<string, { localId: string; callbackQueue: string }>()
  for (const { queue: localId, callbackTeam } of jobs) {
    const known = queues.get(localId)
    if (known !== undefined && (callbackTeam === '' || known.callbackQueue !== '')) continue
    queues.set(localId, { localId, callbackQueue: callbacks.get(callbackTeam)?.localId ?? '' })
  }
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const minutes = retryMinutes(jobs, nowMs)
  return {
    keys,
    heldJobs: keys.heldJobs(executor),
    leaseMs: LEASE_MS,
    shards: engine.shards.length,
    finishedMs: retention.finishedChainsMs,
    failedCallsMax: retention.failedCallsMax,
    successfulCallsMax: retention.successfulCallsMax,
    callBytesMax: Math.floor(retention.callRecordsBytesMax / engine.shards.length),
    trimHiddenAbove: retention.finishedChainsPerCronMax + FINISHED_CHAINS_PER_CRON_SLACK,
    buckets: jobs.map((job) => job.buckets).join(''),
    minutes: minutes.map((minute) => ({ minute, bucket: keys.minuteBucket(minute) })),
    callbackQueues: [...callbacks.values()],
    queues: [...queues.values()],
    ...jobRows(jobs),
    ...alertValues(jobs, { keys, shards: engine.shards.length, windows, nowMs }),
  }
}

/** The ends of runs, the alerts, and the teams of both. A window that mutes alerts is judged here, by Redis time. */
function alertValues(
  jobs: readonly BatchJob[],
  around: {
    readonly keys: ShardKeys
    readonly shards: number
    readonly windows: WindowSource
    readonly nowMs: number
  },
) {
  const { keys, shards, windows, nowMs } = around
  const mutes = new Map<string, { position: number; muted: Mutes | null }>()
  const muteOf = (team: string) => {
    const known = mutes.get(team) ?? { position: mutes.size + 1, muted: windows.mutes(team, nowMs) }
    mutes.set(team, known)
    return known
  }
  const runs: RunRow[] = []
  const alerts: AlertRow[] = []
  jobs.forEach(({ queue, run, alerts: raised }, i) => {
    if (run !== null) runs.push(runRow(keys, i + 1, run, muteOf(run.team).position))
    if (raised === null) return
    const { position: teamPosition, muted } = muteOf(raised.team)
    const suppressedBy = muted?.all ?? muted?.queues.get(raised.queueName) ?? ''
    const queueId = queueIdOf(queue, keys.shard, shards)
    const facts = encodeAlertFacts(raised.queueName, raised.facts)
    for (const type of raised.types)
      alerts.push({
        position: i + 1,
        teamPosition,
        type,
        reason: raised.reason,
        queueId,
        suppressedBy,
        facts,
      })
  })
  const alertTeams = [...mutes].map(([team, { muted }]) => ({
    ...alertTeam(keys, team, shards),
    cronMutes: cronMutes(muted),
  }))
  return { runs, alertTeams, alerts }
}

type RunRow = ReturnType<typeof runRow>
type AlertRow = Readonly<Record<(typeof BATCH.rows.alerts.args)[number], string | number>>

function runRow(keys: ShardKeys, position: number, run: EndedRun, teamPosition: number) {
  const { cronId, record, tickMs: tick, failureReason, host } = run
  const cronRecords = keys.cronRecords(String(cronId))
  const reason = failureReason ?? ''
  // A part of a JSON array: a host may hold a quotation mark.
  return { position, cronId, record, tick, reason, host: JSON.stringify(host), teamPosition, cronRecords }
}

/** As runs.lua reads it. */
function cronMutes(muted: Mutes | null): string {
  if (muted === null) return ''
  if (muted.all !== null) return `*${muted.all}`
  const pairs = [...muted.crons].map(([name, window]) => `${name}=${window}`)
  return pairs.length === 0 ? '' : `|${pairs.join('|')}|`
}

/** The callback queues of the teams whose jobs end with one, by team. */
async function callbackQueues(engine: Engine, keys: ShardKeys, jobs: readonly BatchJob[]) {
  const queues = new Map<string, { team: string; teamNumber: string; localId: string }>()
  for (const { callbackTeam: team } of jobs) {
    if (team === '' || queues.has(team)) continue
    const teamNumber = await engine.teamNumbers.of(keys, team)
    queues.set(team, { team, teamNumber, localId: callbackQueueOf(teamNumber) })
  }
  return queues
}

function retryMinutes(jobs: readonly BatchJob[], nowMs: number): number[] {
  const minutes = new Set<number>()
  for (const job of jobs) {
    if (job.kind !== END.retry || job.delayMs <= NEAR_DELAY_SECONDS_MAX * 1000) continue
    for (const minute of minutesAround(nowMs + job.delayMs)) minutes.add(minute)
  }
  return [...minutes]
}
