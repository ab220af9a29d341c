import { request as send, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { ApiServer } from '../../../src/api/api-server.ts'
import { createApi, type ApiParts } from '../../../src/api/create-api.ts'
import { type CronSettings, DEFAULT_CRON_SETTINGS } from '../../../src/domain/crons/cron.ts'
import type { Alert } from '../../../src/domain/alerts/alert.ts'
import type { Bulk } from '../../../src/domain/bulk/bulk.ts'
import { PushShedder } from '../../../src/api/bounds/push-shedder.ts'
import { CostGate } from '../../../src/domain/shares/cost-gate.ts'
import { ANY_JOB } from '../../../src/domain/jobs/job-filter.ts'
import { JobIds } from '../../../src/domain/jobs/job-ids.ts'
import type { CallRecord, JobChain } from '../../../src/domain/jobs/job.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { quotasOf } from '../../../src/domain/quotas.ts'
import type { MaintenanceWindow, WindowSettings } from '../../../src/domain/windows/maintenance-window.ts'
import type { WindowChange } from '../../../src/ports/windows.ts'
import type { Clock, Logger } from '../../../src/ports/runtime.ts'
import { NO_TRACING } from '../../../src/ports/tracing/tracing.ts'
import type { Cron } from '../../../src/ports/crons.ts'
import type { DeadLetterGroup, JobIntake, NewJob, PushEnd, PushResult } from '../../../src/ports/jobs.ts'
import type { AlertDelivery } from '../../../src/ports/notifications.ts'
import type { Queue } from '../../../src/ports/queues.ts'
import { NO_TEAM_SETTINGS, type TeamSettings } from '../../../src/ports/settings.ts'
import { AN_ACTOR, anApiToken, aPrincipal } from '../../support/principals.ts'
import { createFakeCodes, createFakeSessions } from '../../support/fake-sessions.ts'
import { AN_INSTALLATION, LIVE } from './status/an-installation.ts'
import { fakeChannels } from './notifications/fake-channels.ts'
import { FakeAuditLog } from '../../support/fake-audit-log.ts'
import { A_SPLIT, fakeQueueLists } from './routes/fake-queue-lists.ts'
import { someMinutes } from './some-minutes.ts'
import { fakeIssues } from './routes/fake-issues.ts'

/** A push that is accepted. */
export const GOOD = { queue: 'emails', url: 'https://example.com/hook' }
export const ROUTES = [
  ['POST', '/api/jobs'],
  ['GET', '/api/jobs'],
  ['GET', '/api/jobs/16'],
  ['DELETE', '/api/jobs/16'],
  ['POST', '/api/jobs/16/replay'],
  ['GET', '/api/queues'],
  ['GET', '/api/queues/7'],
  ['PATCH', '/api/queues/7'],
  ['DELETE', '/api/queues/7'],
  ['POST', '/api/queues/7/pause'],
  ['POST', '/api/queues/7/resume'],
  ['GET', '/api/openapi.json'],
] as const

export const TOKEN = 'test-token-0123456789'
export const OTHER_TOKEN = 'other-token-0123456789'
const PRINCIPALS = new Map([
  [TOKEN, aPrincipal('default')],
  [OTHER_TOKEN, aPrincipal('other')],
])
export const NOW_MS = Date.UTC(2026, 10, 21, 10, 0, 0)
export const JOB_IDS = new JobIds(1, '0123456789ab')
export const BEARER = { authorization: `Bearer ${TOKEN}` }

/** Seals by turning round. */
export function createFakeBox(): ApiParts['cursorBox'] {
  const turned = (text: string) => text.split('').toReversed().join('')
  return {
    seal: (text) => Buffer.from(turned(`sealed ${text}`)).toString('base64url'),
    open: (sealed) => {
      const text = turned(Buffer.from(sealed, 'base64url').toString())
      if (!text.startsWith('sealed ')) throw new Error('not sealed')
      return text.slice('sealed '.length)
    },
    digest: (text) => turned(text),
  }
}

/** Real time: only a socket waits for it. */
export const clock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => NOW_MS,
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
  nextTurn: (run) => void setImmediate(run),
}

/** Job 16 (seq 1) with a failed first attempt and a retry that waits. */
export const ROOT_ID = JOB_IDS.idOf(0, 1, 1)
export const RETRY_ID = JOB_IDS.idOf(0, 1, 2)

export function aCall(jobId: number, change: Partial<CallRecord> = {}): CallRecord {
  return {
    jobId,
    attempt: JOB_IDS.attemptOf(jobId),
    startedAtMs: NOW_MS + 10,
    durationMs: 12.5,
    request: {
      method: 'POST',
      url: 'https://example.com/hook',
      headers: [['Content-Type', 'application/json']],
      body: '{"id":1}',
      bodyTruncated: false,
    },
    response: { status: 503, headers: [['Server', 'x']], body: 'busy', bodyTruncated: false },
    failureReason: 'http_server_error',
    errorMessage: 'The target answered 503.',
    timings: { queueWaitMs: 1, dnsMs: 2, connectMs: 3, tlsMs: null, firstByteMs: 4, bodyMs: 5 },
    ...change,
  }
}

export function aChain(change: Partial<JobChain> = {}): JobChain {
  return {
    rootId: ROOT_ID,
    queueId: 7,
    queueName: 'emails',
    request: {
      url: 'https://example.com/hook',
      method: 'POST',
      headers: { 'X-A': '1' },
      payload: '{"big":12345678901234567890, "1":1.0, "0":"x"}',
      callbackUrl: null,
      callbackEvents: null,
      tags: { customer: '77' },
      timeoutSeconds: null,
      retryDelays: null,
      retriesEnabled: null,
      successAssertions: null,
      cron: null,
    },
    attempts: [
      {
        createdAtMs: NOW_MS,
        scheduledAtMs: NOW_MS,
        startedAtMs: NOW_MS + 10,
        completedAtMs: NOW_MS + 23,
        failureReason: 'http_server_error',
        errorMessage: 'The target answered 503.',
        responseStatus: 503,
        durationMs: 12.5,
      },
    ],
    open: {
      attempt: 2,
      status: 'pending',
      createdAtMs: NOW_MS + 23,
      scheduledAtMs: NOW_MS + 60_023,
      startedAtMs: null,
    },
    end: null,
    replayedAs: null,
    calls: [aCall(ROOT_ID)],
    ...change,
  }
}

export function aQueue(change: Partial<Queue['settings']> = {}): Queue {
  return {
    queueId: 7,
    team: 'default',
    name: 'emails',
    settings: { ...DEFAULT_QUEUE_SETTINGS, ...change },
    counts: { pending: 1, delayed: 2, processing: 3, dead: 4 },
    throttle: null,
  }
}

export const A_TEAM = {
  settings: {
    ...NO_TEAM_SETTINGS,
    channels: [
      { name: 'mail', type: 'email', alertTypes: ['failure'], url: null },
      { name: 'ops', type: 'slack', alertTypes: ['failure'], url: 'https://hooks.slack.com/services/canary' },
      { name: 'inner', type: 'webhook', alertTypes: ['failure'], url: 'http://169.254.169.254/canary' },
    ],
  } satisfies TeamSettings,
  quotas: quotasOf({ crons: 500, pendingJobs: 20 }),
  usage: { queues: 1, crons: 2, pendingJobs: 3, storedBytes: 4, jobsPerMonth: 5, callsInFlight: 6 },
}

export const NEXT_RUN_MS = NOW_MS + 60_000

export function aCron(change: Partial<CronSettings> = {}, state: Partial<Cron> = {}): Cron {
  return {
    cronId: 7,
    team: 'default',
    name: 'nightly-0a1b2c3d',
    settings: {
      ...DEFAULT_CRON_SETTINGS,
      displayName: 'Nightly',
      url: 'https://example.com/report',
      cronExpression: '0 3 * * *',
      ...change,
    },
    nextRunAtMs: change.isActive === false ? null : NEXT_RUN_MS,
    lastRun: { scheduledAtMs: NOW_MS, result: 'succeeded', jobId: 16, isManual: false, ticks: 1 },
    lastSuccessAtMs: NOW_MS,
    consecutiveFailures: 0,
    ...state,
  }
}

export function anAlert(change: Partial<Alert> = {}): Alert {
  return {
    id: 7,
    type: 'failure',
    reason: 'timeout',
    resource: { kind: 'queue', id: 7, name: 'emails' },
    jobId: 16,
    message: 'A job of queue "emails" failed for good.',
    count: 3,
    firstAtMs: NOW_MS,
    lastAtMs: NOW_MS + 1_500,
    isRead: false,
    suppressedBy: null,
    ...change,
  }
}

/** It is active, for the queue 7. */
export function aWindow(change: Partial<WindowSettings> = {}): MaintenanceWindow {
  return {
    team: 'default',
    name: 'night',
    action: 'mute',
    resource: { kind: 'queue', name: 'emails' },
    times: { kind: 'once', startMs: NOW_MS - 60_000, endMs: NOW_MS + 60_000 },
    reason: null,
    ...change,
  }
}

/** As an editor that knows the window `night`. */
export async function editedWindow(
  team: string,
  name: string,
  change: WindowChange,
): Promise<MaintenanceWindow | 'refused' | null> {
  if (team !== 'default' || name !== 'night') return null
  const settings = await change(aWindow())
  return settings === 'refused' ? settings : { team, name, ...settings }
}

export const A_DELIVERY: AlertDelivery = {
  channel: 'ops',
  state: 'sent',
  answer: '200 ok',
  atMs: NOW_MS + 2_000,
}

export interface RunningApi {
  readonly port: number
  readonly pushed: NewJob[]
  readonly logged: unknown[][]
  readonly server: ApiServer
  close(): Promise<void>
}

export interface ApiChange extends Partial<Omit<ApiParts, 'intake'>> {
  readonly connectionsMax?: number
  readonly intake?: FakeIntake
}

type FakeIntake = Pick<JobIntake, 'push'> & Partial<JobIntake>

/** Several pushes are as many single ones, unless the fake says otherwise. */
function intakeOf(intake: FakeIntake): JobIntake {
  const endOf = (job: NewJob): Promise<PushEnd> =>
    intake.push(job).catch((fault: unknown) => ({ status: 'failed', fault }))
  return {
    push: (job) => intake.push(job),
    pushAll: (jobs) => intake.pushAll?.(jobs) ?? Promise.all(jobs.map(endOf)),
  }
}

/** The API on a free port with fakes that know one queue (7), one cron (7), one alert (7), one window (night) and one chain (16, 17); `change` replaces parts. */
export async function startApi({ intake, ...change }: ApiChange = {}): Promise<RunningApi> {
  const pushed: NewJob[] = []
  const logged: unknown[][] = []
  const note = (...entry: unknown[]): void => void logged.push(entry)
  const logger: Logger = { debug: note, info: note, warn: note, error: note, child: () => logger }
  const parts: ApiParts = {
    intake: intakeOf(
      intake ?? {
        push: (job) => {
          pushed.push(job)
          return Promise.resolve(createdResult())
        },
      },
    ),
    gate: new CostGate(clock),
    tracing: NO_TRACING,
    shedder: new PushShedder({ clock, logger, requests: { pushShed: () => undefined } }),
    jobs: fakeJobs(),
    queues: {
      get: (team, id) => Promise.resolve(team === 'default' && id === 7 ? aQueue() : null),
      getByName: (team, name) => Promise.resolve(team === 'default' && name === 'emails' ? aQueue() : null),
      apply: () => Promise.resolve({ queueId: 7 }),
      unthrottle: () => Promise.resolve(true),
      remove: () => Promise.resolve('removed'),
    },
    queueLists: fakeQueueLists(aQueue()),
    queueStats: {
      count: () =>
        Promise.resolve([
          { ...aQueue(), split: A_SPLIT, oldestReadyMs: 41_500, lastFailure: null, lostJobs: null },
        ]),
    },
    editor: {
      create: (_team, name, settings) =>
        Promise.resolve(name === 'emails' ? 'exists' : { ...aQueue(settings), name }),
      edit: (team, id, edit) => Promise.resolve(team === 'default' && id === 7 ? aQueue(edit) : null),
      remove: (team, id) => Promise.resolve(team === 'default' && id === 7 ? 'removed' : 'not_found'),
    },
    managed: { ofQueue: () => null, ofCron: () => Promise.resolve(null) },
    signingRefs: { of: () => Promise.resolve([]) },
    crons: fakeCrons(),
    cronEditor: {
      create: (_team, settings) => Promise.resolve(aCron(settings)),
      edit: (team, id, edit) => Promise.resolve(team === 'default' && id === 7 ? aCron(edit) : null),
      remove: (team, id) => Promise.resolve(team === 'default' && id === 7 ? 'removed' : 'not_found'),
    },
    windows: {
      list: ({ team, cursor }) =>
        Promise.resolve(
          cursor === null
            ? { windows: team === 'default' ? [aWindow()] : [], nextCursor: null }
            : 'bad_cursor',
        ),
      get: (team, name) => Promise.resolve(team === 'default' && name === 'night' ? aWindow() : null),
    },
    windowEditor: {
      create: (team, name, settings) =>
        Promise.resolve({ team, name: name ?? 'window-0a1b2c3d', ...settings }),
      edit: (team, name, change) => editedWindow(team, name, change),
      remove: (team, name) =>
        Promise.resolve(team === 'default' && name === 'night' ? 'removed' : 'not_found'),
    },
    alerts: fakeAlerts(),
    issues: fakeIssues(),
    bulks: fakeBulks(),
    auditLog: new FakeAuditLog(),
    events: {
      open: ({ response }) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
    },
    sessions: createFakeSessions(TOKEN),
    loginCodes: createFakeCodes(),
    deliveries: { deliveriesOf: () => Promise.resolve(new Map([[7, [A_DELIVERY]]])) },
    tokens: { principalOf: (token) => PRINCIPALS.get(token) ?? null },
    tokenStore: fakeTokens(),
    signingSecrets: fakeSigningSecrets(),
    channels: fakeChannels(),
    tokenUses: {
      note: () => undefined,
      lastUsed: (_team, names) => Promise.resolve(names.map(() => NOW_MS)),
    },
    tokenRates: { admit: () => ({ isAdmitted: true, remaining: 1, fullMs: 0, waitMs: 0 }) },
    newSecret: (bytes) => new Uint8Array(bytes).fill(7),
    egress: { refusalOf: (url) => (url.hostname === '169.254.169.254' ? 'blocked' : null) },
    teamSettings: { of: () => A_TEAM.settings },
    channelTester: {
      requestTest: () =>
        Promise.resolve({ status: 'answered', isSent: true, answer: '200 ok', tookMs: 12.4 }),
    },
    channelHealth: { healthOf: () => Promise.resolve([]) },
    quotasOf: () => A_TEAM.quotas,
    usage: { read: () => Promise.resolve(A_TEAM.usage) },
    about: { version: '1.2.3', resources: 'folder' },
    installation: { read: () => Promise.resolve(AN_INSTALLATION) },
    liveFigures: { read: (asked) => Promise.resolve(asked.map(() => LIVE)) },
    waits: { explain: () => Promise.resolve(null) },
    statistics: {
      ofTeam: () => Promise.resolve(someMinutes(NOW_MS)),
      ofQueue: (team, id) => Promise.resolve(team === 'default' && id === 7 ? someMinutes(NOW_MS) : null),
    },
    jobIds: JOB_IDS,
    cursorBox: createFakeBox(),
    loginBox: createFakeBox(),
    clock,
    testClock: null,
    logger,
    ...change,
  }
  const server = new ApiServer({ listener: createApi(parts), clock: parts.clock, logger, ...change })
  const { port } = await server.listen(0, '127.0.0.1')
  return { port, pushed, logged, server, close: () => server.close(1_000) }
}

export function createdResult(): PushResult {
  return { status: 'created', jobId: 16, queueId: 7, scheduledAtMs: NOW_MS }
}

function fakeCrons(): ApiParts['crons'] {
  const known = (team: string, cronId: number): boolean => team === 'default' && cronId === 7
  return {
    list: ({ team }) => Promise.resolve({ crons: team === 'default' ? [aCron()] : [], nextCursor: 'next' }),
    get: (team, cronId) => Promise.resolve(known(team, cronId) ? aCron() : null),
    getByName: (team, name) => Promise.resolve(team === 'default' && name === aCron().name ? aCron() : null),
    runNow: (team, cronId) =>
      Promise.resolve(
        known(team, cronId)
          ? { status: 'started', jobId: 16, scheduledAtMs: NOW_MS }
          : { status: 'not_found' },
      ),
    runs: ({ team, cronId, cursor }) => {
      if (!known(team, cronId)) return Promise.resolve(null)
      const { lastRun } = aCron()
      return Promise.resolve(
        cursor === null ? { runs: lastRun === null ? [] : [lastRun], nextCursor: null } : 'bad_cursor',
      )
    },
  }
}

const MADE = { status: 'made', jobId: 32, queueId: 7, scheduledAtMs: NOW_MS } as const

const A_GROUP: DeadLetterGroup = {
  queueId: 7,
  queueName: 'emails',
  host: 'example.com',
  count: 214,
  newestJobId: 16,
  failureReason: 'http_server_error',
  responseStatus: 503,
  errorMessage: 'The target answered with status 503',
  firstEndedAtMs: NOW_MS - 60_000,
  lastEndedAtMs: NOW_MS,
  nextPurgeAtMs: NOW_MS + 86_400_000,
}

const UNKNOWN = { status: 'not_found' } as const

function fakeJobs(): ApiParts['jobs'] {
  const known = (team: string, jobId: number): boolean =>
    team === 'default' && JOB_IDS.rootOf(jobId) === ROOT_ID
  return {
    get: (team, jobId) => Promise.resolve(known(team, jobId) ? aChain() : null),
    list: () =>
      Promise.resolve({
        jobs: [{ jobId: ROOT_ID, chain: aChain({ calls: [] }) }],
        nextCursor: 'next',
        searched: null,
      }),
    deadLetterGroups: ({ cursor }) =>
      Promise.resolve(
        cursor === null ? { groups: [A_GROUP], nextCursor: 'next', searched: 214 } : 'bad_cursor',
      ),
    remove: (team, jobId) => Promise.resolve({ status: known(team, jobId) ? 'removed' : 'not_found' }),
    fire: (team, jobId) =>
      Promise.resolve(known(team, jobId) ? { status: 'fired', chain: aChain() } : UNKNOWN),
    cancel: (team, jobId) =>
      Promise.resolve(known(team, jobId) ? { status: 'cancelled', chain: aChain() } : UNKNOWN),
    retry: (team, jobId) => Promise.resolve(known(team, jobId) ? MADE : { status: 'not_found' }),
    replay: (team, jobId) => Promise.resolve(known(team, jobId) ? MADE : { status: 'not_found' }),
  }
}

function fakeSigningSecrets(): ApiParts['signingSecrets'] {
  const secretRef = { name: 'own', key: 'current' }
  const secret = { id: 'own:current', secretRef, createdAtMs: NOW_MS }
  return {
    list: (team) => Promise.resolve(team === 'default' ? [secret] : []),
    create: () => Promise.resolve(secret),
    remove: () => Promise.resolve('removed'),
  }
}

function fakeTokens(): ApiParts['tokenStore'] {
  const token = (team: string, name: string) =>
    team === 'default' && name === 'ci' ? anApiToken('ci', { prefix: 'pun_4fJk' }) : null
  return {
    list: ({ team, cursor }) => {
      const tokens = [token(team, 'ci')].filter((one) => one !== null)
      return Promise.resolve(cursor === null ? { tokens, nextCursor: null } : 'bad_cursor')
    },
    get: (team, name) => Promise.resolve(token(team, name)),
    create: () => Promise.resolve(),
    remove: () => Promise.resolve('removed'),
  }
}

export function aBulk(change: Partial<Bulk> = {}): Bulk {
  return {
    id: 7,
    team: 'default',
    action: 'replay',
    state: 'running',
    matched: 3,
    isAtLeast: false,
    done: 1,
    skipped: 0,
    failed: 1,
    ratePerSecond: null,
    stopWhen: { failedAgainPercent: 20, min: 50 },
    stopped: null,
    outcome: { succeeded: 0, waiting: 1, failedAgain: 0, removed: 0 },
    createdBy: AN_ACTOR,
    filter: { ...ANY_JOB, queue: 'emails', tag: { name: 'customer', value: '77' } },
    createdAtMs: NOW_MS,
    startedAtMs: NOW_MS + 5,
    endedAtMs: null,
    ...change,
  }
}

function fakeBulks(): ApiParts['bulks'] {
  const known = (team: string, id: number): boolean => team === 'default' && id === 7
  return {
    preview: () => Promise.resolve({ matched: 3, isAtLeast: false, sample: [ROOT_ID] }),
    create: (_team, { action, ratePerSecond }) => Promise.resolve(aBulk({ action, ratePerSecond })),
    list: ({ team, cursor }) =>
      Promise.resolve(
        cursor === null ? { bulks: team === 'default' ? [aBulk()] : [], nextCursor: null } : 'bad_cursor',
      ),
    get: (team, id) => Promise.resolve(known(team, id) ? aBulk() : null),
    failures: () => Promise.resolve([{ jobId: ROOT_ID, reason: 'damaged' }]),
    abort: (team, id) => Promise.resolve(known(team, id) ? aBulk({ state: 'aborting' }) : null),
    resume: (team, id) => Promise.resolve(known(team, id) ? aBulk() : null),
  }
}

function fakeAlerts(): ApiParts['alerts'] {
  const known = (team: string, id: number): boolean => team === 'default' && id === 7
  return {
    list: ({ team, cursor }) => {
      const page = { alerts: team === 'default' ? [anAlert()] : [], nextCursor: 'next' }
      return Promise.resolve(cursor === null ? page : 'bad_cursor')
    },
    get: (team, id) => Promise.resolve(known(team, id) ? anAlert() : null),
    counts: () =>
      Promise.resolve({ unread: 3, byType: { warning: 1, failure: 2, recovery: 0, limit_warning: 0 } }),
    markRead: (team, id) => Promise.resolve(known(team, id) ? anAlert({ isRead: true }) : null),
    markAllRead: () => Promise.resolve(3),
    remove: (team, id) => Promise.resolve(known(team, id)),
    removeAll: () => Promise.resolve(2),
  }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: unknown
}

export interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** One request on a connection of its own. */
export function call(
  port: number,
  path: string,
  { method = 'GET', headers, body }: Call = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // By address, so that no name is looked up.
    const to = { host: '127.0.0.1', port, path, method }
    const request = send({ ...to, headers: { ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: text === '' ? null : JSON.parse(text),
        })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** A push with the token and content type it needs; `body` is JSON text or a value. */
export function push(
  port: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return call(port, '/api/jobs', {
    method: 'POST',
    headers: { ...BEARER, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })
}

/** Bytes as they are, and whatever comes back until the connection ends. */
export function rawExchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}
