import { randomBytes, randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { PushShedder } from '../../api/bounds/push-shedder.ts'
import { ApiServer } from '../../api/api-server.ts'
import { CertificateFiles } from '../../api/certificate-files.ts'
import { type ApiParts, createApi } from '../../api/create-api.ts'
import { EventStreams, STREAMS_MAX } from '../../api/events/event-streams.ts'
import { measured } from '../../api/measuring/measured.ts'
import { readBuiltDashboard } from '../../api/dashboard/built-dashboard.ts'
import type { OidcLogin } from '../../api/sessions/oidc-routes.ts'
import { CostGate } from '../../domain/shares/cost-gate.ts'
import { StartupError } from '../../domain/errors.ts'
import { listenFailure } from '../../domain/net/listen-address.ts'
import type { UserVerifier } from '../../ports/access/user-verifier.ts'
import type { CronStore } from '../../ports/crons.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { RequestMetrics } from '../../ports/metrics.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { QueueStore } from '../../ports/queues.ts'
import type { Tracing } from '../../ports/tracing/tracing.ts'
import { createAlertStore } from '../../redis/ledger/alerts/alert-store.ts'
import { createIssueStore } from '../../redis/ledger/issues/issue-store.ts'
import type { KnownWindows, WindowSource, WindowStore } from '../../ports/windows.ts'
import { LeasedRates } from '../../redis/control/access/leased-rates.ts'
import { takeRate } from '../../redis/control/access/take-rate.ts'
import { LastUses } from '../../redis/control/access/last-uses.ts'
import type { CompiledSettings } from '../../redis/control/compiled/compiled-settings.ts'
import { createSigningSecretRefs } from '../../redis/control/compiled/stored-own-secrets.ts'
import { openCursorBox } from '../../redis/control/access/cursor-box.ts'
import { createBacklogReader } from '../../redis/jobs/queues/backlog-reader.ts'
import { createQueueStats } from '../../redis/jobs/queues/queue-stats.ts'
import { createAuditLog } from '../../redis/ledger/audit-log/audit-log.ts'
import { createBulkStore } from '../../redis/jobs/bulk/bulk-store.ts'
import { createJobIntake } from '../../redis/jobs/enqueue/job-intake.ts'
import { AcceptedSteps } from '../../redis/jobs/losses/accepted-steps.ts'
import { LossWatch } from '../../redis/jobs/losses/loss-watch.ts'
import { createLiveReader } from '../../redis/watch/live/live-reader.ts'
import { createJobStore } from '../../redis/jobs/job-store.ts'
import { setClockHold } from '../../redis/base/engine/clock-hold.ts'
import type { Engine } from '../../redis/base/engine/engine.ts'
import { QuotaKeeper } from '../../redis/ledger/quotas/quota-keeper.ts'
import { createChannelTester } from '../../redis/ledger/notifications/channel-tester.ts'
import {
  createChannelHealthReader,
  createDeliveryReader,
} from '../../redis/ledger/notifications/delivery-reader.ts'
import { createLoginCodes } from '../../redis/control/sessions/login-codes.ts'
import { createSessionStore } from '../../redis/control/sessions/session-store.ts'
import { createTeamUsageReader } from '../../redis/ledger/quotas/team-usage.ts'
import { ClockWatch } from '../../redis/watch/clock-watch.ts'
import { createWaitExplainer } from '../../redis/watch/wait-explainer.ts'
import { createQueueLists } from '../../redis/watch/queue-lists/queue-lists.ts'
import { createStatisticsReader } from '../../redis/watch/statistics/statistics-reader.ts'
import { createInstallationReader } from '../../redis/watch/status/installation-reader.ts'
import { KUBERNETES } from '../../settings/parsers.ts'
import { quotasOfSettings, type QuotaSettings } from '../../settings/tables/quota-table.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import { VERSION } from '../startup/version.ts'
import { createQuotasOf, type QuotasOf, withQuotas } from './quota-part.ts'
import type { Store } from './store.ts'

/** How long responses in progress may take at a stop. */
const CLOSE_GRACE_MS = 5_000
/** The largest share of connections that streams of events may hold. */
const STREAMS_SHARE = 0.25

interface ApiPartSettings extends QuotaSettings {
  readonly host: string
  readonly port: number
  readonly maxConnections: number
  readonly trustedProxies: readonly string[]
  readonly intakeBytes: number
  readonly clockHoldSeconds: number
  readonly dashboard: 'on' | 'off'
  readonly basePath: string
  /** A folder, or KUBERNETES. */
  readonly resources: string
  /** Standalone has none. */
  readonly tlsCert?: string | null
  readonly tlsKey?: string | null
}

interface ApiPartOptions {
  settings: ApiPartSettings
  store: Store
  queues: QueueStore
  crons: CronStore
  windows: WindowStore & KnownWindows & WindowSource
  editors: Pick<
    ApiParts,
    'editor' | 'managed' | 'cronEditor' | 'windowEditor' | 'tokenStore' | 'signingSecrets' | 'channels'
  >
  compiled: CompiledSettings
  users?: UserVerifier
  oidc?: OidcLogin
  egress: EgressPolicy
  aside?: ApiParts['aside']
  /** Passed on to `DashboardParts`. */
  echoAt?(): string | null
  requests: RequestMetrics
  tracing: Tracing
  /** How long it keeps serving after a stop; 0 when absent. */
  shutdownDelayMs?: number
  logger: Logger
  lifecycle: Lifecycle
}

/** Starts the API on a store; answers its port. It stops taking requests with the lifecycle. */
export async function startApi(options: ApiPartOptions): Promise<number> {
  const { settings, compiled, editors } = options
  const { engine, testClock } = options.store
  // Timers stay those of this machine: only what is due follows the test clock.
  const clock = testClock?.ahead(systemClock) ?? systemClock
  const quotasOf = createQuotasOf(compiled, quotasOfSettings(settings))
  const usage = createTeamUsageReader(engine)
  const quotas = new QuotaKeeper({ engine, clock: systemClock, quotasOf })
  const gate = new CostGate(systemClock)
  const events = openEvents(engine, options)
  const steps = watchLosses(engine, options.lifecycle)
  watchClock(engine, options.lifecycle)
  await setClockHold(engine, settings.clockHoldSeconds * 1000)
  const { logger, requests } = options
  const shedder = new PushShedder({ clock: systemClock, logger, requests })
  const intake = createJobIntake(engine, {
    nowMs: () => systemClock.monotonicMs(),
    quotas,
    steps,
    waited: (delayMs) => shedder.waitedInList(delayMs),
  })
  const listener = createApi({
    intake,
    jobs: createJobStore(engine, quotas, gate),
    ...withQuotas(
      { crons: options.crons, cronEditor: editors.cronEditor },
      { usage, quotasOf, metrics: engine.metrics, clock },
    ),
    bulks: createBulkStore(engine, Math.random, gate),
    alerts: createAlertStore(engine),
    issues: createIssueStore(engine),
    auditLog: createAuditLog(engine),
    sessions: createSessionStore(engine),
    loginCodes: createLoginCodes(engine),
    deliveries: createDeliveryReader(engine, compiled),
    queues: options.queues,
    queueLists: createQueueLists(engine, options.windows),
    queueStats: createQueueStats(engine, options.windows),
    editor: editors.editor,
    managed: editors.managed,
    signingRefs: createSigningSecretRefs(engine),
    windows: options.windows,
    windowEditor: editors.windowEditor,
    ...explaining(engine, options.windows, quotasOf),
    ...tellingState(options, quotasOf),
    usage,
    quotasOf,
    tokens: compiled,
    ...(options.users === undefined ? {} : { users: options.users }),
    ...(options.oidc === undefined ? {} : { oidc: options.oidc }),
    tokenUses: noteTokenUses(options),
    tokenRates: ratesOf(engine),
    tokenStore: editors.tokenStore,
    newSecret: randomBytes,
    signingSecrets: editors.signingSecrets,
    channels: editors.channels,
    teamSettings: compiled,
    channelTester: createChannelTester(engine, { clock: systemClock, newId: randomUUID }),
    channelHealth: createChannelHealthReader(engine),
    egress: options.egress,
    tracing: options.tracing,
    jobIds: engine.jobIds,
    ...(await openBoxes(options.store)),
    gate,
    shedder,
    clock,
    testClock,
    logger,
    intakeBytesMax: settings.intakeBytes,
    trustedProxies: settings.trustedProxies,
    events,
    ...placed(options),
  })
  const server = openServer(options, measured(listener, { requests, clock: systemClock }))
  options.lifecycle.onStop('api', () => server.close(CLOSE_GRACE_MS, options.shutdownDelayMs))
  // The last to be registered ends first: pages go elsewhere while this API still serves.
  options.lifecycle.onStop('streams of events', () => events.close())
  try {
    const { port } = await server.listen(settings.port, settings.host)
    return port
  } catch (error) {
    const place = { host: settings.host, port: settings.port, variable: 'PUNCTUAL_PORT' }
    throw new StartupError(listenFailure(error as NodeJS.ErrnoException, place), { cause: error })
  }
}

/** Answers what the intake writes down of the steps that it is answered. */
function watchLosses(engine: Engine, lifecycle: Lifecycle): AcceptedSteps {
  const steps = new AcceptedSteps(engine.shards.length)
  const watch = new LossWatch({ engine, steps, clock: systemClock })
  lifecycle.onStop('watch of losses', () => watch.stop())
  watch.start()
  return steps
}

function watchClock(engine: Engine, lifecycle: Lifecycle): void {
  const watch = new ClockWatch(engine, systemClock)
  lifecycle.onStop('watch of the clock', () => watch.stop())
  watch.start()
}

function noteTokenUses({ store, logger, lifecycle }: ApiPartOptions): LastUses {
  const uses = new LastUses({ runner: store.engine.runner, clock: systemClock, logger })
  lifecycle.onStop('last uses of tokens', () => uses.stop())
  return uses
}

/** Speaks HTTPS where there is a certificate, and follows its files. */
function openServer({ settings, logger, lifecycle }: ApiPartOptions, listener: RequestListener): ApiServer {
  const { tlsCert: certFile = null, tlsKey: keyFile = null, maxConnections: connectionsMax } = settings
  const parts = { listener, clock: systemClock, logger, connectionsMax }
  if (certFile === null || keyFile === null) return new ApiServer(parts)
  const files = new CertificateFiles({ certFile, keyFile, clock: systemClock, logger })
  const server = new ApiServer({ ...parts, certificate: files.read() })
  files.follow((certificate) => server.useCertificate(certificate))
  lifecycle.onStop('certificate', () => files.stop())
  return server
}

/** Opens the boxes of texts that clients keep for us and cannot read. */
async function openBoxes({ connection }: Store): Promise<Pick<ApiParts, 'cursorBox' | 'loginBox'>> {
  const cursorBox = await openCursorBox(connection)
  return { cursorBox, loginBox: cursorBox.logins }
}

/** The dashboard and the paths beside the API. If the dashboard is not built, its paths say how to build it. */
function placed({
  settings: { dashboard, basePath },
  store,
  oidc,
  aside,
  echoAt,
  logger,
}: ApiPartOptions): Pick<ApiParts, 'aside' | 'basePath' | 'dashboard'> {
  const own = { basePath, ...(aside === undefined ? {} : { aside }) }
  if (dashboard === 'off') return own
  const built = readBuiltDashboard()
  if (built === null) logger.warn('The dashboard is not built: run make build, and start again')
  const isForTests = store.testClock !== null
  const facts = { basePath, isForTests, loginAt: oidc?.name ?? null, ...(echoAt !== undefined && { echoAt }) }
  return { ...own, dashboard: { built, ...facts } }
}

/** They leave most connections to other requests. */
function openEvents(
  engine: Engine,
  { settings: { maxConnections }, windows, logger }: ApiPartOptions,
): EventStreams {
  const streamsMax = Math.min(STREAMS_MAX, Math.floor(maxConnections * STREAMS_SHARE))
  return new EventStreams({
    reader: createLiveReader(engine, windows),
    clock: systemClock,
    logger,
    streamsMax,
  })
}

function ratesOf(engine: Engine): LeasedRates {
  return new LeasedRates({ clock: systemClock, take: (token, wanted) => takeRate(engine, token, wanted) })
}

/** The parts that explain: statistics, and why a job waits. */
function explaining(
  engine: Engine,
  windows: KnownWindows,
  quotasOf: QuotasOf,
): Pick<ApiParts, 'statistics' | 'waits'> {
  return {
    statistics: createStatisticsReader(engine),
    waits: createWaitExplainer(engine, {
      windows,
      callQuotaOf: (team) => quotasOf(team).callsInFlight,
    }),
  }
}

/** The parts that tell how the installation does. */
function tellingState(
  { store, windows, settings }: ApiPartOptions,
  quotasOf: QuotasOf,
): Pick<ApiParts, 'about' | 'installation' | 'liveFigures'> {
  const { engine } = store
  return {
    about: { version: VERSION, resources: settings.resources === KUBERNETES ? 'kubernetes' : 'folder' },
    installation: createInstallationReader(engine, {
      backlog: createBacklogReader(engine, windows),
      callQuotaOf: (team) => quotasOf(team).callsInFlight,
      readServers: () => store.readServers(),
    }),
    liveFigures: createLiveReader(engine),
  }
}
