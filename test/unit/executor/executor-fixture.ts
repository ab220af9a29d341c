import { endAttempt } from '../../../src/domain/jobs/retry-policy.ts'
import { DEFAULT_QUEUE_SETTINGS, type ChainSettings } from '../../../src/domain/jobs/queue-settings.ts'
import type { JobRequest } from '../../../src/domain/jobs/job.ts'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import type { CronSource } from '../../../src/ports/crons.ts'
import type { HttpCallResult } from '../../../src/ports/http-caller.ts'
import type {
  ClaimAnswer,
  ClaimedCallback,
  ClaimedJob,
  ClaimedWork,
  JobSource,
  ShardMaintenance,
  WorkEnd,
} from '../../../src/ports/jobs.ts'
import type { Logger } from '../../../src/ports/runtime.ts'
import type { Metrics } from '../../../src/ports/metrics.ts'
import type { CallRunner } from '../../../src/executor/calls/call-runner.ts'
import { jobRequest } from '../../support/engine/engine.ts'
import { FAKE_EPOCH_MS } from '../../support/fake-clock.ts'
import { latched, type Latched } from '../../support/latched.ts'
import { quietMetrics } from '../../support/quiet.ts'

export const REDIS_AWAY = new StoreUnavailableError('connection refused')

export function claimedJob(
  change: Partial<Omit<ClaimedJob, 'request' | 'settings'>> & {
    request?: Partial<JobRequest>
    settings?: Partial<ChainSettings>
  } = {},
): ClaimedJob {
  const jobId = change.jobId ?? 0
  return {
    kind: 'job',
    shard: 0,
    jobId,
    rootId: jobId,
    attempt: 1,
    token: '1',
    team: 'default',
    queueName: 'emails',
    location: { queue: '7', settingsHash: 'abcdefghijk', isLarge: false },
    createdAtMs: FAKE_EPOCH_MS - 2_000,
    scheduledAtMs: FAKE_EPOCH_MS - 1_000,
    startedAtMs: FAKE_EPOCH_MS,
    bytes: 512,
    earlier: [],
    ...change,
    request: jobRequest(change.request),
    settings: { ...DEFAULT_QUEUE_SETTINGS, ...change.settings },
  }
}

export function claimedCallback(change: Partial<ClaimedCallback> = {}): ClaimedCallback {
  return {
    kind: 'callback',
    shard: 0,
    jobId: 900,
    token: '1',
    team: 'default',
    location: { queue: '0', settingsHash: '-----------', isLarge: false },
    scheduledAtMs: FAKE_EPOCH_MS - 1_000,
    startedAtMs: FAKE_EPOCH_MS,
    bytes: 512,
    callback: { url: 'http://caller.test/done', webhookId: 'uuid_cb', body: '{"status":"success"}' },
    timeoutSeconds: 10,
    ...change,
  }
}

const NO_TIMINGS = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }

type Answered = Extract<HttpCallResult, { kind: 'answered' }>

export function answered(
  change: Partial<Omit<Answered, 'kind' | 'body'>> & { body?: string } = {},
): Answered {
  return {
    kind: 'answered',
    status: 200,
    headers: [],
    durationMs: 12.4,
    timings: NO_TIMINGS,
    requestHeaders: [],
    bodyTruncated: false,
    isBodyCutShort: false,
    protocolNotes: [],
    found: new Set(),
    ...change,
    body: Buffer.from(change.body ?? ''),
  }
}

export function failedCall(message = 'refused'): Extract<HttpCallResult, { kind: 'failed' }> {
  const exchange = { durationMs: 3, timings: NO_TIMINGS, requestHeaders: [] }
  return { kind: 'failed', reason: 'connection_error', message, ...exchange }
}

export function cutCall(
  kind: 'aborted' | 'local_fault',
): Extract<HttpCallResult, { kind: 'aborted' | 'local_fault' }> {
  const exchange = { durationMs: 3, timings: NO_TIMINGS, requestHeaders: [] }
  return kind === 'aborted' ? { kind, ...exchange } : { kind, message: 'EMFILE', ...exchange }
}

/** The end of a job that succeeded. */
export function succeeded(work: ClaimedJob): WorkEnd {
  const end = endAttempt(work, {
    completedAtMs: work.startedAtMs,
    durationMs: 1,
    responseStatus: 200,
    failureReason: null,
    errorMessage: null,
  })
  return { type: 'ended', work, end, callback: null, call: null }
}

export interface FakeSource extends JobSource {
  readonly beat: Latched<JobSource['beat']>
  readonly claim: Latched<JobSource['claim']>
  readonly finish: Latched<JobSource['finish']>
  readonly releaseUnknown: Latched<JobSource['releaseUnknown']>
  readonly leave: Latched<JobSource['leave']>
}

/** A shard that keeps every lease, has nothing to claim and accepts every end, until the test changes its rules. */
export function createFakeSource(shard = 0): FakeSource {
  return {
    shard,
    beat: latched<JobSource['beat']>(() => ({ status: 'ok' as const, listed: 0, redisMs: 0 })),
    claim: latched<JobSource['claim']>(() => claimAnswer([])),
    finish: latched<JobSource['finish']>((ends) => ends.map(() => 'done' as const)),
    releaseUnknown: latched<JobSource['releaseUnknown']>(() => 0),
    leave: latched<JobSource['leave']>(() => undefined),
    redisNowMs: () => FAKE_EPOCH_MS,
  }
}

export function claimAnswer(
  work: readonly ClaimedWork[],
  change: Partial<Omit<Extract<ClaimAnswer, { status: 'claimed' }>, 'status' | 'work'>> = {},
): ClaimAnswer {
  return {
    status: 'claimed',
    work,
    runnable: 0,
    nextDueMs: null,
    crowdedTeams: [],
    bytesWanted: null,
    ...change,
  }
}

export interface FakeMaintenance extends ShardMaintenance {
  readonly peek: Latched<ShardMaintenance['peek']>
  readonly promote: Latched<ShardMaintenance['promote']>
  readonly reap: Latched<ShardMaintenance['reap']>
  readonly runMinuteRound: Latched<ShardMaintenance['runMinuteRound']>
  readonly sweep: Latched<ShardMaintenance['sweep']>
}

/** A shard in which no job is delayed, no executor is dead and nothing has expired. */
export function createFakeMaintenance(shard = 0): FakeMaintenance {
  return {
    shard,
    peek: latched<ShardMaintenance['peek']>(() => ({ runnable: false, nextDueMs: null })),
    promote: latched<ShardMaintenance['promote']>(() => ({ promoted: 0, nextDueMs: null })),
    reap: latched<ShardMaintenance['reap']>(() => ({ jobs: 0, executors: 0 })),
    runMinuteRound: latched<ShardMaintenance['runMinuteRound']>(() => undefined),
    sweep: latched<ShardMaintenance['sweep']>(() => ({ isMore: false })),
  }
}

export interface FakeRunner {
  readonly run: Latched<CallRunner>
  /** Ends the open call of a job with success. */
  succeed(work: ClaimedJob): void
}

/** Calls stay open until the test ends them; an aborted one releases its job, as the real runner does. */
export function createFakeRunner(): FakeRunner {
  const open = new Map<number, (end: WorkEnd) => void>()
  return {
    run: latched<CallRunner>(
      (work, signal) =>
        new Promise<WorkEnd>((resolve) => {
          const release = () => resolve({ type: 'released', work })
          if (signal.aborted) release()
          else signal.addEventListener('abort', release)
          open.set(work.jobId, resolve)
        }),
    ),
    succeed: (work) => {
      const end = open.get(work.jobId)
      if (end === undefined) throw new Error(`no call was made for job ${work.jobId}`)
      end(succeeded(work))
    },
  }
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Record<string, unknown> | undefined
}

export function createRecordingLogger(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const write = (level: LogLine['level']) => (message: string, fields?: Record<string, unknown>) => {
    lines.push({ level, message, fields })
  }
  const logger = {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => logger,
  }
  return logger
}

/** Records every count as `name:value…`, in order. `open` reads the calls in flight. */
export function createRecordingMetrics(): Metrics & {
  readonly counts: string[]
  open(): number
  /** Shards whose lease is held. */
  shards(): number
} {
  const counts: string[] = []
  let readCallsInFlight = (): number => 0
  let readShardsHeld = (): number => 0
  const note =
    (name: string) =>
    (...values: unknown[]) => {
      counts.push([name, ...values].join(':'))
    }
  return {
    ...quietMetrics,
    counts,
    jobStarted: note('jobStarted'),
    jobFinished: note('jobFinished'),
    claimAnsweredLate: note('claimAnsweredLate'),
    callbackFinished: note('callbackFinished'),
    callSlots: (_slots, read) => {
      readCallsInFlight = read
    },
    open: () => readCallsInFlight(),
    shardsHeld: (read) => {
      readShardsHeld = read
    },
    shards: () => readShardsHeld(),
    leaseLost: note('leaseLost'),
  }
}

/** Crons of a shard that has none. */
export function createFakeCrons(shard = 0): CronSource {
  return {
    shard,
    redisNowMs: () => FAKE_EPOCH_MS,
    nextDueMs: () => Promise.resolve(null),
    due: () => Promise.resolve([]),
    upcoming: () => Promise.resolve([]),
    prepare: () => Promise.resolve([]),
    quarantine: () => true,
    hint: () => undefined,
  }
}
