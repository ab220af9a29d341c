import { FINISHED_CHAINS_PER_CRON_SLACK, LEASE_MS, NEAR_DELAY_SECONDS_MAX } from '../../../domain/limits.ts'
import type { Mutes, WindowSource } from '../../../ports/windows.ts'
import { ALERT_TEAM, alertTeam } from '../../alerts/alert-teams.ts'
import { noteConfined } from '../../client/confined.ts'
import type { Engine } from '../../client/engine.ts'
import { encodeAlertFacts } from '../../layout/alert-record.ts'
import { callbackQueueOf, queueIdOf, type ShardKeys } from '../../layout/keys.ts'
import { step } from '../../client/step.ts'
import { END } from '../../layout/fields.ts'
import { jobRows, queuesOf, type BatchJob, type EndedRun } from './batch-job.ts'

/** What `finish` and `reap` are both sent about queues and jobs. */
const BATCH = {
  keys: [
    ...(['clock', 'executors', 'heldJobs', 'ring', 'teams', 'teamNumbers', 'nearSet', 'minutes'] as const),
    ...(['settings', 'settingsUses', 'retentionDue', 'oldestCalls', 'shardUsage', 'teamUsage'] as const),
    ...(['suspects', 'cronStates', 'cronAlerts', 'statistics', 'statisticsLog'] as const),
  ],
  args: [
    ...(['shards', 'finishedMs', 'failedCallsMax', 'successfulCallsMax', 'callBytesMax'] as const),
    ...(['trimHiddenAbove', 'ends', 'places', 'runs'] as const),
  ],
  rows: {
    minutes: { keys: ['bucket'], args: ['minute'] },
    callbackQueues: {
      queueKeys: ['meta', 'ready', 'records', 'inFlight'],
      args: ['team', 'teamNumber', 'localId'],
    },
    /** Queues whose jobs only end as success or failure, and leave nothing but that. A key costs more than it is long. */
    leanQueues: {
      queueKeys: ['meta', 'ready', 'records', 'inFlight', 'history', 'summaries'],
      args: ['localId'],
    },
    queues: {
      queueKeys: [
        ...(['meta', 'ready', 'records', 'inFlight', 'payloads', 'deadLetters'] as const),
        ...(['deadLetterRecords', 'history', 'summaries'] as const),
        ...(['callRecords', 'failedCalls', 'successfulCalls'] as const),
      ],
      args: ['localId', 'callbackQueue'],
    },
    runLists: { keys: ['cronRecords'] },
    stretches: { args: ['token', 'kind', 'settingsHash', 'count'] },
    alertTeams: { ...ALERT_TEAM, args: [...ALERT_TEAM.args, 'cronMutes'] },
    alerts: {
      args: ['position', 'teamPosition', 'type', 'reason', 'queueId', 'suppressedBy', 'facts'],
    },
  },
  /** Id and record of each, and facts of those that do not end plainly. */
  rest: 'jobs',
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

interface BatchSent {
  readonly executor: string
  readonly jobs: readonly BatchJob[]
  readonly windows: WindowSource
  /** The step may end each of these jobs in another way. */
  readonly isReap?: boolean
}

/** What a call of `finish` or `reap` says about its jobs. */
export async function batchValues(
  engine: Engine,
  keys: ShardKeys,
  { executor, jobs, windows, isReap = false }: BatchSent,
) {
  const { retention } = engine
  const callbacks = await callbackQueues(engine, keys, jobs)
  const { lean, full } = queuesOf(jobs, isReap)
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
    ends: jobs.map((job) => job.kind + job.buckets).join(''),
    minutes: minutes.map((minute) => ({ minute, bucket: keys.minuteBucket(minute) })),
    callbackQueues: [...callbacks.values()],
    leanQueues: lean,
    queues: full.map(({ localId, callbackTeam }) => ({
      localId,
      callbackQueue: callbacks.get(callbackTeam)?.localId ?? '',
    })),
    ...jobRows(jobs, {
      queues: [...lean, ...full.map(({ localId }) => localId)],
      shards: isReap ? null : engine.shards.length,
    }),
    ...alertValues(engine, jobs, { keys, windows, nowMs }),
  }
}

/** The ends of runs, the alerts, and the teams of both. A window that mutes alerts is judged here, by Redis time. */
function alertValues(
  engine: Engine,
  jobs: readonly BatchJob[],
  around: {
    readonly keys: ShardKeys
    readonly windows: WindowSource
    readonly nowMs: number
  },
) {
  const { keys, windows, nowMs } = around
  const shards = engine.shards.length
  const mutes = new Map<string, { position: number; muted: Mutes | null }>()
  const mutedOf = (team: string): Mutes | null => {
    try {
      return windows.mutes(team, nowMs)
    } catch (error) {
      // Nobody must miss what a window could not be asked about.
      noteConfined(engine, 'window', error, { shard: keys.shard, team })
      return null
    }
  }
  const muteOf = (team: string) => {
    const known = mutes.get(team) ?? { position: mutes.size + 1, muted: mutedOf(team) }
    mutes.set(team, known)
    return known
  }
  const runLists: Array<{ readonly cronRecords: string }> = []
  let runs = ''
  const alerts: AlertRow[] = []
  jobs.forEach(({ queue, run, alerts: raised }, i) => {
    if (run !== null) {
      runs += runText(i + 1, run, muteOf(run.team).position)
      runLists.push({ cronRecords: keys.cronRecords(String(run.cronId)) })
    }
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
  return { runs, runLists, alertTeams, alerts }
}

type AlertRow = Readonly<Record<(typeof BATCH.rows.alerts.args)[number], string | number>>

/** All runs are one text: an argument costs more than its bytes. */
function runText(position: number, { cronId, record, failureReason, host }: EndedRun, team: number): string {
  // A part of a JSON array: a host may hold a quotation mark, but no blank.
  return `${position} ${cronId} ${record} ${team} ${failureReason ?? ''} ${JSON.stringify(host)}\n`
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
