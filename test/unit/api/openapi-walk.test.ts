import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { tokenPrincipal } from '../../../src/domain/access/token-principal.ts'
import { NO_TERMS } from '../../../src/domain/access/token-terms.ts'
import { EditRefusedError, QuotaExceededError, StoreUnavailableError } from '../../../src/domain/errors.ts'
import type { Admission } from '../../../src/ports/access/user-verifier.ts'
import type { ApiParts } from '../../../src/api/create-api.ts'
import { EventStreams } from '../../../src/api/events/event-streams.ts'
import type { Logger } from '../../../src/ports/runtime.ts'
import { faultsOf, isAskedOfInstallation, operations } from '../../support/rules/contract-document.ts'
import {
  aBulk,
  aChain,
  aCron,
  type ApiChange,
  BEARER,
  call,
  type Call,
  clock,
  createFakeBox,
  NOW_MS,
  startApi,
} from './api-fixture.ts'
import { ISSUE_ID } from './routes/fake-issues.ts'
import { createFakeCodes, failingCodes, failingSessions, FIRST_SESSION } from '../../support/fake-sessions.ts'
import { anApiToken, aPrincipal } from '../../support/principals.ts'

/** The paths of a test clock are there only with one. */
function testClockFor(path: string, status: string): ApiChange {
  if (path !== '/api/test/clock' || status === '404') return {}
  const time = () =>
    status === '503'
      ? Promise.reject(new StoreUnavailableError('x'))
      : status === '500'
        ? Promise.reject(new Error('x'))
        : Promise.resolve({ nowMs: NOW_MS, aheadMs: 0 })
  return { testClock: { read: time, advanceTo: time, advanceBy: time } }
}

const rejecting = (fault: Error): ApiChange => {
  const fail = () => Promise.reject(fault)
  return {
    intake: { push: fail },
    jobs: {
      get: fail,
      list: fail,
      deadLetterGroups: fail,
      remove: fail,
      fire: fail,
      cancel: fail,
      retry: fail,
      replay: fail,
    },
    queueLists: { list: fail, named: fail },
    queues: { get: fail, getByName: fail, apply: fail, unthrottle: fail, remove: fail },
    editor: { create: fail, edit: fail, remove: fail },
    crons: { list: fail, get: fail, getByName: fail, runNow: fail, runs: fail },
    cronEditor: { create: fail, edit: fail, remove: fail },
    windows: { list: fail, get: fail },
    windowEditor: { create: fail, edit: fail, remove: fail },
    alerts: {
      list: fail,
      get: fail,
      counts: fail,
      markRead: fail,
      markAllRead: fail,
      remove: fail,
      removeAll: fail,
    },
    issues: { list: fail, get: fail, change: fail },
    auditLog: { ask: fail, settle: fail, list: fail, loggedIn: fail },
    bulks: { preview: fail, create: fail, list: fail, get: fail, failures: fail, abort: fail, resume: fail },
    deliveries: { deliveriesOf: fail },
    tokenStore: { list: fail, get: fail, create: fail, remove: fail },
    signingSecrets: { list: fail, create: fail, remove: fail },
    channels: { list: fail, create: fail, edit: fail, remove: fail, whenInForce: fail },
    usage: { read: fail },
    sessions: failingSessions(fault),
    statistics: { ofTeam: fail, ofQueue: fail },
    waits: { explain: fail },
    installation: { read: fail },
    channelTester: { requestTest: fail },
    // The one way a route without a store can fail.
    tokens: {
      principalOf: (token) => {
        if (token === 'explode') throw fault
        return aPrincipal('default')
      },
    },
  }
}

function closedStreams(): EventStreams {
  const reader = { read: () => Promise.resolve([]) }
  const logger = { debug: () => undefined } as unknown as Logger
  const streams = new EventStreams({ reader, clock, logger })
  void streams.close()
  return streams
}

const overQuota = () => Promise.resolve({ status: 'over_quota', quota: 'pendingJobs' })
const refuse = () => Promise.reject(new EditRefusedError('crons.yaml is not valid: fix the file first.'))
const refusingEditor: ApiParts['cronEditor'] & ApiParts['editor'] & ApiParts['windowEditor'] = {
  create: refuse,
  edit: refuse,
  remove: refuse,
}

const OPS_CHANNEL = { name: 'ops', type: 'email', alertTypes: ['failure'], secretRef: null } as const
const OWN_SECRET = { id: 'own:current', secretRef: { name: 'own', key: 'current' }, createdAtMs: null }

const ROOM_BYTES = 1024 * 1024
const JSON_TYPE = { ...BEARER, 'content-type': 'application/json' }
const GOOD_BODY: Readonly<Record<string, string>> = {
  duplicateJob: '{"delay":60}',
  replayJob: '{"tags":null}',
  pauseQueue: '{"reason":"It moves."}',
  drainQueue: '{"reason":null}',
  pushJobs: '{"jobs":[{"queue":"q","url":"https://example.com"}]}',
  pushJob: '{"queue":"q","url":"https://example.com"}',
  createCron: '{"name":"n","url":"https://example.com","cron_expression":"0 9 * * *"}',
  editCron: '{"success_assertions":[{"type":"status_code_equals","value":404}]}',
  previewCron: '{"cron_expression":"0 9 1 * 1","time_zone":"Europe/Berlin"}',
  previewWindow: '{"start_at":"2026-12-01T22:00:00Z","end_at":"2026-12-01T23:30:00Z"}',
  testNotifications: '{}',
  createNotificationChannel: JSON.stringify({ name: 'ops', type: 'email', test: false }),
  editNotificationChannel: JSON.stringify({ alert_types: ['failure'] }),
  createWindow: '{"start_at":"2026-12-01T22:00:00Z","end_at":"2026-12-01T23:30:00Z"}',
  editWindow: '{"reason":"The database moves."}',
  createBulk: '{"action":"replay","ids":[16]}',
  createQueue: '{"name":"partner","success_assertions":[{"type":"status_code_equals","value":404}]}',
  editQueue: '{"success_assertions":[{"type":"status_code_equals","value":404}]}',
  markAlertsRead: '{}',
  muteIssue: JSON.stringify({ until: new Date(NOW_MS + 3_600_000).toISOString() }),
  advanceTestClock: JSON.stringify({ advance_seconds: 3600 }),
  createToken: '{"name":"ci"}',
}

const DRY_RUN = '{"action":"purge","filter":{},"dry_run":true}'

const GOOD_SEARCH: Readonly<Record<string, string>> = {
  deleteAlerts: '?all=true',
  endTeamSessions: '?kind=token&subject=test',
  readWindowOpenings: '?after=2026-11-01T00:00:00Z&before=2026-12-01T00:00:00Z',
}

/** Those whose 429 is one of a quota. */
const MAKING = new Set(['pushJob', 'createCron', 'duplicateJob', 'replayJob'])

/** Those without a body whose 429 is not that of a rate limit. */
const OWN_429 = new Set(['listJobs', 'replayJob', 'runCron'])
const LIMITED = { ...NO_TERMS, rateLimit: { requestsPerSecond: 1, burst: 1 } }
const OVER_RATE: ApiChange = {
  tokens: { principalOf: () => tokenPrincipal('default', 'ci', LIMITED) },
  tokenRates: { admit: () => ({ isAdmitted: false, remaining: 0, fullMs: 1_000, waitMs: 1_000 }) },
}

/** How to get an answer with this status from an operation: other parts, another path, another call. */
interface Scenario {
  readonly parts?: ApiChange
  readonly path?: (path: string) => string
  readonly call?: Call
  /** Whether the team has another body under way that takes all the room. */
  readonly isRoomTaken?: boolean
  /** How often it is asked; the last answer counts. */
  readonly repeated?: number
}

/** A push whose body does not come; `100 Continue` tells that its bytes are reserved. */
async function holdRoom(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER.authorization}\r\n` +
      `Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${ROOM_BYTES}\r\n\r\n`,
  )
  await once(socket, 'data')
  return socket
}

/** What needs the cookie of a session. */
const BY_SESSION = new Set(['readSession', 'endSession'])

/** Their only 403 is that of a browser that another site has sent. */
const CHANGES_WITHOUT_PERMISSION = new Set(['openSession', 'createLoginCode', 'endOneSession'])

/** A provider at which everybody has logged in, and a browser that comes back from it. */
function oidcOf(kind: 'done' | 'unavailable', admission: Admission): ApiChange {
  const pending = { state: 's', nonce: 'n', verifier: 'v' }
  const begun = kind === 'done' ? { url: 'https://id.example.com/', pending } : null
  const end = kind === 'done' ? { kind, user: { username: 'ann', groups: [] } } : { kind }
  const provider = { begin: async () => begun, finish: async () => end }
  return { oidc: { name: 'id.example.com', provider, authorizer: { admitUser: async () => admission } } }
}

const BEGUN = createFakeBox().seal(
  JSON.stringify({ state: 's', nonce: 'n', verifier: 'v', team: null, untilMs: NOW_MS + 1 }),
)

function loginScenarioOf(status: string): Scenario {
  const call: Call = {
    headers: { host: 'localhost', ...(status !== '401' && { cookie: `punctual-80-login=${BEGUN}` }) },
  }
  const admitted: Admission = { kind: 'admitted', principal: aPrincipal('default', { kind: 'user' }) }
  const path = (bare: string): string => `${bare}?state=s`
  if (status === '404') return { call }
  const parts = oidcOf(
    status === '503' ? 'unavailable' : 'done',
    status === '403' ? { kind: 'no_team' } : admitted,
  )
  return { call, parts, path }
}

/** A code that is known, unless it is to be refused: for the 429 so often that no further one is taken. */
function codeScenarioOf(status: string): Scenario {
  const faults: Readonly<Record<string, Error>> = {
    500: new TypeError('x'),
    503: new StoreUnavailableError('x'),
  }
  const fault = faults[status]
  const headers = { 'x-punctual-code': 'c' }
  if (status === '401') return { call: { headers } }
  if (status === '429') return { call: { headers }, repeated: 30 }
  if (fault !== undefined) return { call: { headers }, parts: { loginCodes: failingCodes(fault) } }
  const grant = { token: BEARER.authorization.slice('Bearer '.length), team: 'default' }
  return { call: { headers }, parts: { loginCodes: { ...createFakeCodes(), find: async () => grant } } }
}

/** null = as for any other operation. */
function sessionScenarioOf(operationId: string, status: string): Scenario | null {
  if (operationId === 'readLoginCode') return codeScenarioOf(status)
  if (operationId === 'createLoginCode' && status === '503')
    return { call: { headers: BEARER }, parts: { loginCodes: failingCodes(new StoreUnavailableError('x')) } }
  if (CHANGES_WITHOUT_PERMISSION.has(operationId) && status === '403')
    return {
      call: { headers: { ...FIRST_SESSION, 'x-punctual-request': '1', 'sec-fetch-site': 'cross-site' } },
    }
  if (operationId === 'openSession' && status === '429') return { call: { headers: BEARER }, repeated: 11 }
  if (/^(?:begin|finish)Login$/.test(operationId)) return loginScenarioOf(status)
  if (!BY_SESSION.has(operationId)) return null
  const headers = { ...FIRST_SESSION, 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }
  const faults: Readonly<Record<string, Error>> = {
    500: new TypeError('x'),
    503: new StoreUnavailableError('x'),
  }
  const fault = faults[status]
  if (status === '401') return { call: {} }
  if (status === '403') return { call: { headers: { ...headers, 'sec-fetch-site': 'cross-site' } } }
  if (status === '422') return { call: { headers }, path: (path) => `${path}?everywhere=yes` }
  if (status === '429') return { call: { headers }, parts: OVER_RATE }
  return {
    call: { headers },
    ...(fault === undefined ? {} : { parts: { sessions: failingSessions(fault) } }),
  }
}

function scenarioOf(operationId: string, status: string): Scenario {
  const ofSession = sessionScenarioOf(operationId, status)
  if (ofSession !== null) return ofSession
  const body = GOOD_BODY[operationId]
  const good: Call = body === undefined ? { headers: BEARER } : { headers: JSON_TYPE, body }
  switch (status) {
    case '200':
      // Of the operations that answer both, what changes nothing.
      return operationId === 'createBulk' ? { call: { ...good, body: DRY_RUN } } : { call: good }
    case '400':
      return { call: { headers: JSON_TYPE, body: '{' } }
    case '401':
      return { call: {} }
    case '403':
      return {
        call: good,
        parts: { tokens: { principalOf: () => aPrincipal('default', { permissions: new Set() }) } },
      }
    case '404':
      return {
        call: good,
        path: (path) =>
          path.replace(/\/(?:16|7-9f86d08188|7|night|ci|own:current|ops|listed-first)\b/, '/999'),
      }
    case '409':
      return {
        call: good,
        parts: {
          intake: { push: () => Promise.resolve({ status: 'queue_draining', queue: 'emails' }) },
          jobs: {
            get: () => Promise.resolve(aChain({ lost: ['payload'] })),
            remove: () => Promise.resolve({ status: 'in_flight' }),
            fire: () => Promise.resolve({ status: 'in_flight' }),
            cancel: () => Promise.resolve({ status: 'sent' }),
            retry: () => Promise.resolve({ status: 'not_failed' }),
            replay: () => Promise.resolve({ status: 'not_dead_lettered' }),
          } as never,
          crons: {
            get: () => Promise.resolve(aCron()),
            runNow: () => Promise.resolve({ status: 'still_running', jobId: 16 }),
          } as never,
          bulks: {
            abort: () => Promise.resolve('ended'),
            get: () => Promise.resolve(aBulk()),
            resume: () => Promise.resolve('done'),
          } as never,
          cronEditor: refusingEditor,
          editor: refusingEditor,
          windowEditor: refusingEditor,
          tokenStore: {
            create: refuse,
            remove: refuse,
            get: () => Promise.resolve(anApiToken('ci')),
          } as never,
          signingSecrets: {
            create: refuse,
            remove: refuse,
            list: () => (operationId === 'listSigningSecrets' ? refuse() : Promise.resolve([OWN_SECRET])),
          },
          channels: {
            create: refuse,
            edit: refuse,
            remove: refuse,
            list: () =>
              operationId === 'listNotificationChannels' ? refuse() : Promise.resolve([OPS_CHANNEL]),
            whenInForce: refuse,
          },
        },
      }
    case '413':
      return {
        call: {
          headers: JSON_TYPE,
          body: 'x'.repeat((operationId === 'pushJobs' ? 16 : 1) * 1024 * 1024 + 1),
        },
      }
    case '415':
      return { call: { headers: { ...BEARER, 'content-type': 'text/plain' }, body: '{}' } }
    case '422':
      return body === undefined
        ? { call: good, path: (path) => `${path}?limit=0` }
        : { call: { headers: JSON_TYPE, body: '{"timeout_seconds":0,"count":0}' } }
    case '429':
      if (body === undefined && !OWN_429.has(operationId)) return { call: good, parts: OVER_RATE }
      if (body !== undefined && !MAKING.has(operationId))
        return { call: good, parts: { intakeBytesMax: ROOM_BYTES }, isRoomTaken: true }
      return {
        call: good,
        parts: {
          intake: { push: () => Promise.resolve({ status: 'too_many_queues' }) },
          bulks: { create: () => Promise.resolve('too_many') } as never,
          cronEditor: { create: () => Promise.reject(new QuotaExceededError('crons', 500)) } as never,
          crons: {
            get: () => Promise.resolve(aCron()),
            runNow: () => Promise.reject(new QuotaExceededError('pendingJobs', 9)),
          } as never,
          jobs: {
            list: () => Promise.resolve('too_many_searches'),
            get: () => Promise.resolve(aChain()),
            retry: overQuota,
            replay: overQuota,
          } as never,
        },
      }
    case '500':
      return {
        call: { ...good, headers: { ...JSON_TYPE, authorization: 'Bearer explode' } },
        parts: rejecting(new TypeError('broken')),
      }
    case '503':
      if (operationId === 'followEvents') return { call: good, parts: { events: closedStreams() } }
      return { call: good, parts: rejecting(new StoreUnavailableError('gone')) }
    default:
      return { call: good }
  }
}

describe.each(
  operations().map(
    ({ method, path, operation }) => [operation.operationId, method, path, operation] as const,
  ),
)('%s', (operationId, method, path, operation) => {
  const statuses = Object.keys(operation.responses)
  test.each(statuses.filter((status) => !isAskedOfInstallation(path, operation, status)))(
    'answers %s as documented',
    async (status) => {
      const scenario = scenarioOf(operationId, status)
      const api = await startApi({ ...testClockFor(path, status), ...scenario.parts })
      const search = status === '422' ? '' : (GOOD_SEARCH[operationId] ?? '')
      const concrete =
        path
          .replace('{job_id}', '16')
          .replace(/\{(?:queue|cron|alert|bulk)_id\}/, '7')
          .replace('{issue_id}', ISSUE_ID)
          .replace('{window_id}', 'night')
          .replace('{token_id}', 'ci')
          .replace('{channel_id}', 'ops')
          .replace('{session_id}', 'listed-first')
          .replace('{signing_secret_id}', 'own:current') + search
      const held = scenario.isRoomTaken === true ? await holdRoom(api.port) : null
      for (let i = 1; i < (scenario.repeated ?? 1); i += 1) {
        await call(api.port, concrete, { method, ...scenario.call })
      }
      const answer = await call(api.port, (scenario.path ?? ((same) => same))(concrete), {
        method,
        ...scenario.call,
      })
      held?.destroy()
      await api.close()
      expect(String(answer.status)).toBe(status)

      const { text, json, headers } = answer
      const given = { status: Number(status), body: text === '' ? null : json }
      // `Set-Cookie` is the one header that Node gives as a list.
      const header = (name: string) => [headers[name.toLowerCase()]].flat()[0]
      expect(faultsOf(operation, { ...given, header })).toEqual([])
    },
  )
})

test('something was walked', () => {
  expect(
    operations()
      .map(({ operation }) => operation.operationId)
      .sort(),
  ).toEqual([
    'abortBulk',
    'acknowledgeIssue',
    'advanceTestClock',
    'beginLogin',
    'cancelJob',
    'countAlerts',
    'createBulk',
    'createCron',
    'createLoginCode',
    'createNotificationChannel',
    'createQueue',
    'createSigningSecret',
    'createToken',
    'createWindow',
    'deleteAlert',
    'deleteAlerts',
    'deleteCron',
    'deleteJob',
    'deleteNotificationChannel',
    'deleteQueue',
    'deleteSigningSecret',
    'deleteToken',
    'deleteWindow',
    'drainQueue',
    'duplicateJob',
    'editCron',
    'editNotificationChannel',
    'editQueue',
    'editWindow',
    'endOneSession',
    'endSession',
    'endTeamSessions',
    'finishLogin',
    'fireJob',
    'followEvents',
    'listAlerts',
    'listAuditRecords',
    'listBulks',
    'listCronRuns',
    'listCrons',
    'listDeadLetterGroups',
    'listIssues',
    'listJobs',
    'listNotificationChannels',
    'listQueues',
    'listSessions',
    'listSigningSecrets',
    'listTeamSessions',
    'listTokens',
    'listWindows',
    'markAlertRead',
    'markAlertsRead',
    'muteIssue',
    'openSession',
    'pauseCron',
    'pauseQueue',
    'previewCron',
    'previewWindow',
    'purgeQueue',
    'pushJob',
    'pushJobs',
    'readAlert',
    'readBulk',
    'readContract',
    'readCron',
    'readCronManifest',
    'readIssue',
    'readJob',
    'readLoginCode',
    'readMe',
    'readQueue',
    'readQueueManifest',
    'readQueueState',
    'readQueueStatistics',
    'readSession',
    'readStatistics',
    'readStatus',
    'readTeam',
    'readTestClock',
    'readWindow',
    'readWindowOpenings',
    'reopenIssue',
    'replayJob',
    'resolveIssue',
    'resumeBulk',
    'resumeCron',
    'resumeQueue',
    'retryJob',
    'runCron',
    'testNotifications',
  ])
})
