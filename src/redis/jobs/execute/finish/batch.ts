import {
  FINISHED_CHAINS_PER_CRON_SLACK,
  LEASE_MS,
  NEAR_DELAY_SECONDS_MAX,
} from '../../../../domain/limits.ts'
import { CIRCUIT_REASON, type AlertReason, type AlertType } from '../../../../domain/alerts/alert.ts'
import type { Mutes, WindowSource } from '../../../../ports/windows.ts'
import { ALERT_TEAM, alertTeam } from '../../../ledger/alerts/alert-teams.ts'
import { ISSUE_TEAM, issueValues } from '../../../ledger/issues/issue-rows.ts'
import { noteConfined } from '../../../base/engine/confined.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { encodeAlertFacts } from '../../../base/layout/alert-record.ts'
import { callbackQueueOf, minutesAround, queueIdOf, type ShardKeys } from '../../../base/layout/keys.ts'
import { step } from '../../../base/engine/step.ts'
import { END } from '../../../base/layout/fields.ts'
import { encodeLongest } from '../../../base/layout/statistics/statistics-log.ts'
import { jobRows, queuesOf, type BatchAlerts, type BatchJob, type EndedRun } from './batch-job.ts'

/** What both `finish` and `reap` are sent about queues and jobs. */
const BATCH = {
  keys: [
    'clock',
    'executors',
    'heldJobs',
    'ring',
    'teams',
    'teamNumbers',
    'nearSet',
    'minutes',
    'settings',
    'settingsUses',
    'retentionDue',
    'oldestCalls',
    'shardUsage',
    'teamUsage',
    'suspects',
    'cronStates',
    'cronAlerts',
    'statistics',
    'statisticsLog',
  ],
  args: [
    'shards',
    'finishedMs',
    'failedCallsMax',
    'successfulCallsMax',
    'callBytesMax',
    'trimHiddenAbove',
    'ends',
    'longest',
    'places',
    'runs',
    'failures',
  ],
  rows: {
    issueTeams: ISSUE_TEAM,
    minutes: { keys: ['bucket'], args: ['minute'] },
    callbackQueues: {
      queueKeys: ['meta', 'ready', 'records', 'inFlight'],
      args: ['team', 'teamNumber', 'localId'],
    },
    /**
     * The queues whose jobs only end as success or failure, and leave nothing but that. They have few keys, as a key
     * costs more than its bytes.
     */
    leanQueues: {
      queueKeys: ['meta', 'ready', 'records', 'inFlight', 'history', 'summaries'],
      args: ['localId'],
    },
    queues: {
      queueKeys: [
        'meta',
        'ready',
        'records',
        'inFlight',
        'payloads',
        'deadLetters',
        'deadLetterRecords',
        'history',
        'summaries',
        'callRecords',
        'failedCalls',
        'successfulCalls',
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
  /** Id and record of each job, and the facts of those that do not end plainly. */
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

interface BatchSent {
  readonly executor: string
  readonly jobs: readonly BatchJob[]
  readonly windows: WindowSource
  /** true = the step may end each of these jobs in another way. */
  readonly isReap?: boolean
}

/** Makes what a call of `finish` or `reap` says about its jobs. */
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
    longest: encodeLongest(jobs.flatMap(({ durations }) => durations ?? [])),
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
    ...issueValues(
      keys,
      jobs.map(({ failed }) => failed),
      engine.shards.length,
    ),
  }
}

/**
 * Makes the ends of runs, the alerts, and the teams of both. Windows that mute alerts are judged here, by Redis time.
 */
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
      // An alert is not muted when the windows cannot be asked, so that nobody misses it.
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
  jobs.forEach(({ queue, run, alerts: raised, breakerAlert }, i) => {
    if (run !== null) {
      runs += runText(i + 1, run, muteOf(run.team).position)
      runLists.push({ cronRecords: keys.cronRecords(String(run.cronId)) })
    }
    const raise = (
      { team, queueName, facts }: Pick<BatchAlerts, 'team' | 'queueName' | 'facts'>,
      type: AlertType,
      reason: AlertReason,
    ): void => {
      const { position: teamPosition, muted } = muteOf(team)
      const suppressedBy = muted?.all ?? muted?.queues.get(queueName) ?? ''
      const queueId = queueIdOf(queue, keys.shard, shards)
      const text = encodeAlertFacts(queueName, facts)
      alerts.push({ position: i + 1, teamPosition, type, reason, queueId, suppressedBy, facts: text })
    }
    for (const type of raised?.types ?? []) raise(raised as BatchAlerts, type, (raised as BatchAlerts).reason)
    if (breakerAlert !== null) raise(breakerAlert, breakerAlert.type, CIRCUIT_REASON)
  })
  const alertTeams = [...mutes].map(([team, { muted }]) => ({
    ...alertTeam(keys, team, shards),
    cronMutes: cronMutes(muted),
  }))
  return { runs, runLists, alertTeams, alerts }
}

type AlertRow = Readonly<Record<(typeof BATCH.rows.alerts.args)[number], string | number>>

/** All runs are one text, because an argument costs more than its bytes. */
function runText(position: number, { cronId, record, failureReason, host }: EndedRun, team: number): string {
  // The host is written as JSON, because it may hold a quotation mark; it holds no blank.
  return `${position} ${cronId} ${record} ${team} ${failureReason ?? ''} ${JSON.stringify(host)}\n`
}

/** Writes the mutes of crons as runs.lua reads them. */
function cronMutes(muted: Mutes | null): string {
  if (muted === null) return ''
  if (muted.all !== null) return `*${muted.all}`
  const pairs = [...muted.crons].map(([name, window]) => `${name}=${window}`)
  return pairs.length === 0 ? '' : `|${pairs.join('|')}|`
}

/** Finds, by team, the callback queues of the teams whose jobs end with a callback. */
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
    if (job.kind !== END.retry) continue
    // The target may ask for a later time than the delay's; whether that counts is for the step to say.
    for (const delayMs of [job.delayMs, job.target.askedMs ?? 0]) {
      if (delayMs <= NEAR_DELAY_SECONDS_MAX * 1000) continue
      for (const minute of minutesAround(nowMs + delayMs)) minutes.add(minute)
    }
  }
  return [...minutes]
}
