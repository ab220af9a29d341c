import { randomBytes, randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
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
import type { CronEditor, CronStore } from '../../ports/crons.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { RequestMetrics } from '../../ports/metrics.ts'
import { NOTHING_MANAGED, type ManagedResources } from '../../ports/settings.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { QueueEditor, QueueStore } from '../../ports/queues.ts'
import { createAlertStore } from '../../redis/alerts/alert-store.ts'
import type { SigningSecretStore } from '../../ports/access/signing-secrets.ts'
import type { TokenKeeper } from '../../ports/access/tokens.ts'
import type { KnownWindows, WindowEditor, WindowStore } from '../../ports/windows.ts'
import { LeasedRates } from '../../redis/access/leased-rates.ts'
import { takeRate } from '../../redis/access/take-rate.ts'
import { LastUses } from '../../redis/access/last-uses.ts'
import type { CompiledSettings } from '../../redis/control/compiled-settings.ts'
import { createSigningSecretRefs } from '../../redis/control/own-secrets-compiler.ts'
import { openCursorBox } from '../../redis/access/cursor-box.ts'
import { createQueueStats } from '../../redis/queues/queue-stats.ts'
import { createAuditLog } from '../../redis/audit-log/audit-log.ts'
import { createBulkStore } from '../../redis/bulk/bulk-store.ts'
import { createJobIntake } from '../../redis/enqueue/job-intake.ts'
import { createLiveReader } from '../../redis/live/live-reader.ts'
import { createJobStore } from '../../redis/jobs/job-store.ts'
import type { Engine } from '../../redis/client/engine.ts'
import { QuotaKeeper } from '../../redis/quotas/quota-keeper.ts'
import { createChannelTester } from '../../redis/notifications/channel-tester.ts'
import { createChannelHealthReader, createDeliveryReader } from '../../redis/notifications/delivery-reader.ts'
import { createLoginCodes } from '../../redis/sessions/login-codes.ts'
import { createSessionStore } from '../../redis/sessions/session-store.ts'
import { createTeamUsageReader } from '../../redis/quotas/team-usage.ts'
import { createWaitExplainer } from '../../redis/waiting/wait-explainer.ts'
import { createStatisticsReader } from '../../redis/statistics/statistics-reader.ts'
import { quotasOfSettings, type QuotaSettings } from '../../settings/tables/quota-table.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { createTokenStore } from '../editors/token-store.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
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
  readonly dashboard: 'on' | 'off'
  readonly basePath: string
  /** Standalone has none. */
  readonly tlsCert?: string | null
  readonly tlsKey?: string | null
}

interface ApiPartOptions {
  settings: ApiPartSettings
  store: Store
  queues: QueueStore
  editor: QueueEditor
  /** Absent where there are no resources. */
  managed?: ManagedResources
  crons: CronStore
  cronEditor: CronEditor
  windows: WindowStore & KnownWindows
  windowEditor: WindowEditor
  tokenKeeper: TokenKeeper
  signingSecrets: SigningSecretStore
  compiled: CompiledSettings
  users?: UserVerifier
  oidc?: OidcLogin
  egress: EgressPolicy
  aside?: ApiParts['aside']
  /** As `DashboardParts` has it. */
  echoAt?(): string | null
  requests: RequestMetrics
  /** How long it keeps serving after a stop; 0 when absent. */
  shutdownDelayMs?: number
  logger: Logger
  lifecycle: Lifecycle
}

/** Starts the API on a store; answers its port. It stops taking requests with the lifecycle. */
export async function startApi(options: ApiPartOptions): Promise<number> {
  const { settings, compiled } = options
  const { engine } = options.store
  const quotasOf = createQuotasOf(compiled, quotasOfSettings(settings))
  const usage = createTeamUsageReader(engine)
  const quotas = new QuotaKeeper({ engine, clock: systemClock, quotasOf })
  const gate = new CostGate(systemClock)
  const events = openEvents(engine, options)
  const listener = createApi({
    intake: createJobIntake(engine, { nowMs: () => systemClock.monotonicMs(), quotas }),
    jobs: createJobStore(engine, quotas, gate),
    ...withQuotas(
      { crons: options.crons, cronEditor: options.cronEditor },
      { usage, quotasOf, metrics: engine.metrics, clock: systemClock },
    ),
    bulks: createBulkStore(engine, Math.random, gate),
    alerts: createAlertStore(engine),
    auditLog: createAuditLog(engine),
    ...{ sessions: createSessionStore(engine), loginCodes: createLoginCodes(engine) },
    deliveries: createDeliveryReader(engine, compiled),
    ...{ queues: options.queues, queueStats: createQueueStats(engine) },
    ...{ editor: options.editor, managed: options.managed ?? NOTHING_MANAGED },
    signingRefs: createSigningSecretRefs(engine),
    windows: options.windows,
    windowEditor: options.windowEditor,
    ...explaining(engine, options.windows, quotasOf),
    usage,
    quotasOf,
    tokens: compiled,
    ...(options.users === undefined ? {} : { users: options.users }),
    ...(options.oidc === undefined ? {} : { oidc: options.oidc }),
    tokenUses: noteTokenUses(options),
    tokenRates: ratesOf(engine),
    ...{ tokenStore: createTokenStore(options.tokenKeeper), newSecret: randomBytes },
    signingSecrets: options.signingSecrets,
    teamSettings: compiled,
    channelTester: createChannelTester(engine, { clock: systemClock, newId: randomUUID }),
    channelHealth: createChannelHealthReader(engine),
    egress: options.egress,
    ...{ jobIds: engine.jobIds, ...(await openBoxes(options.store)) },
    gate,
    clock: systemClock,
    logger: options.logger,
    intakeBytesMax: settings.intakeBytes,
    trustedProxies: settings.trustedProxies,
    ...{ events, ...placed(options) },
  })
  const server = openServer(options, measured(listener, { requests: options.requests, clock: systemClock }))
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

/** What clients keep for us and cannot read. */
async function openBoxes({ connection }: Store): Promise<Pick<ApiParts, 'cursorBox' | 'loginBox'>> {
  const cursorBox = await openCursorBox(connection)
  return { cursorBox, loginBox: cursorBox.logins }
}

/** What is where, beside the API. Where the dashboard is not built, its paths say how to do it. */
function placed({
  settings: { dashboard, basePath },
  oidc,
  aside,
  echoAt,
  logger,
}: ApiPartOptions): Pick<ApiParts, 'aside' | 'basePath' | 'dashboard'> {
  const own = { basePath, ...(aside === undefined ? {} : { aside }) }
  if (dashboard === 'off') return own
  const built = readBuiltDashboard()
  if (built === null) logger.warn('The dashboard is not built: run make build, and start again')
  const facts = { basePath, loginAt: oidc?.name ?? null, ...(echoAt !== undefined && { echoAt }) }
  return { ...own, dashboard: { built, ...facts } }
}

/** They leave most connections to other requests. */
function openEvents(engine: Engine, { settings: { maxConnections }, logger }: ApiPartOptions): EventStreams {
  const streamsMax = Math.min(STREAMS_MAX, Math.floor(maxConnections * STREAMS_SHARE))
  return new EventStreams({ reader: createLiveReader(engine), clock: systemClock, logger, streamsMax })
}

function ratesOf(engine: Engine): LeasedRates {
  return new LeasedRates({ clock: systemClock, take: (token, wanted) => takeRate(engine, token, wanted) })
}

/** What says how things go, and why they do not. */
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
