import { hostname } from 'node:os'
import { reasonOf } from '../domain/errors.ts'
import type { EgressGuard } from '../outbound/egress/egress-guard.ts'
import type { Executor } from '../executor/executor.ts'
import type { Logger, TestTime } from '../ports/runtime.ts'
import type { OwnSecretsSource } from '../ports/access/own-secrets.ts'
import { NO_TEAM_SETTINGS, type BoundedTeamsSource, type NotifiedTeamsSource } from '../ports/settings.ts'
import type { Tracing } from '../ports/tracing/tracing.ts'
import type { WindowSource } from '../ports/windows.ts'
import { isDashboardBuilt } from '../api/dashboard/built-dashboard.ts'
import { createJobIntake } from '../redis/jobs/enqueue/job-intake.ts'
import { createLoginCodes } from '../redis/control/sessions/login-codes.ts'
import { createJobStore } from '../redis/jobs/job-store.ts'
import { createIssueStore } from '../redis/ledger/issues/issue-store.ts'
import { describeSettings, type StandaloneSettings } from '../settings/role-settings.ts'
import { openDataFolder, type DataFolder } from '../standalone/data-folder.ts'
import { ECHO_PATH, withEcho } from '../standalone/echo-target.ts'
import { startRedisChild } from '../standalone/redis-server/redis-child.ts'
import { isTextLog } from '../telemetry/logger.ts'
import { createRequestMetrics } from '../telemetry/requests/request-metrics.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { startApi } from './parts/api-part.ts'
import { baseUrl, localHost } from './startup/base-url.ts'
import { endWithInstallation, openEgress } from './parts/engine-part.ts'
import { startExecutor } from './parts/executor-part.ts'
import { showFirstJob } from './greeting/first-try.ts'
import { greet, say } from './greeting/greeting.ts'
import { ownCommand } from './greeting/own-command.ts'
import { openFolderResources } from './editing/folder-resources.ts'
import { acceptOwnToken, DEFAULT_TEAM } from './editing/own-token.ts'
import { openOidc } from './parts/login-part.ts'
import { watchOlderCopy } from './parts/loss-part.ts'
import { watchRedis } from './parts/redis-watch-part.ts'
import { runUntilSignalled, type Lifecycle } from './startup/lifecycle.ts'
import { startTracing } from './startup/role-tracing.ts'
import { waitForRedis } from './startup/redis-wait.ts'
import { API_REDIS, EXECUTOR_COMMAND_TIMEOUT_MS, openStore, type Store } from './parts/store.ts'
import { apiCheck, createTelemetry, leasesCheck, redisCheck, type Telemetry } from './parts/telemetry-part.ts'

/** Runs API and executor in one process, with its own Redis unless one is named. Redis stops last. */
export async function runStandalone(settings: StandaloneSettings): Promise<void> {
  const telemetry = createTelemetry(settings)
  const { logger } = telemetry
  logger.debug('Settings', describeSettings(settings))
  await runUntilSignalled(logger, async (lifecycle, signal) => {
    const folder = openDataFolder({
      path: settings.dataDir,
      token: settings.token,
      secretsKey: settings.secretsKey,
    })
    lifecycle.onStop('data folder', () => folder.close())
    const redisUrl =
      settings.redisUrl ?? (await startOwnRedis(settings, folder, { logger, lifecycle, signal }))
    await startParts(settings, folder, redisUrl, { telemetry, lifecycle, signal })
  })
}

async function startOwnRedis(
  settings: StandaloneSettings,
  folder: DataFolder,
  { logger, lifecycle, signal }: { logger: Logger; lifecycle: Lifecycle; signal: AbortSignal },
): Promise<string> {
  const starting = startRedisChild({
    folder: folder.redisPath,
    maxmemoryBytes: settings.redisMaxmemoryBytes,
    durability: settings.redisDurability,
    clock: systemClock,
    logger,
    signal,
  })
  // Registered before it runs, since a forced stop may come while it loads its data. A failed start leaves nothing.
  lifecycle.onEveryEnd('redis', () =>
    starting.then(
      (child) => child.stop(),
      () => undefined,
    ),
  )
  return (await starting).url
}

interface StartContext {
  readonly telemetry: Telemetry
  readonly lifecycle: Lifecycle
  readonly signal: AbortSignal
}

async function startParts(
  settings: StandaloneSettings,
  folder: DataFolder,
  redisUrl: string,
  context: StartContext,
): Promise<void> {
  const { telemetry, lifecycle } = context
  const { logger } = telemetry
  const tracing = await startTracing(settings.tracing, 'punctual', context)
  const role = { ...API_REDIS, durability: settings.redisDurability, telemetry, lifecycle }
  const open = () => openStore({ ...settings, redisUrl }, role)
  const store = await waitForRedis(open, { clock: systemClock, logger, signal: context.signal })
  await endWithInstallation(store, lifecycle)
  await watchOlderCopy(store, folder.answeredPath, lifecycle)
  await watchRedis(settings, () => store.readServers(), context)
  await acceptOwnToken(store, folder.token)
  const paths = {
    resources: settings.resources,
    statePath: folder.folderStatePath,
    secretsKey: folder.secretsKey,
    withSamples: true,
  }
  const resources = await openFolderResources(settings, paths, store, context)
  const egress = await openEgress({ ...settings, redisUrl }, store, context)
  let executor: Executor | null = null
  let localUrl: string | null = null
  const opsPort = await telemetry.startOpsServer({
    host: settings.host,
    port: settings.opsPort,
    checks: [redisCheck(store.connection), leasesCheck(() => executor), apiCheck(() => localUrl !== null)],
    lifecycle,
  })
  executor = await startOwnExecutor({ ...settings, redisUrl }, context, {
    testClock: store.testClock,
    tracing,
    egress,
    teams: resources.compiled,
    windows: resources.windows,
  })
  const echoAt = (): string | null => {
    const url = localUrl === null ? null : `${localUrl}${ECHO_PATH}`
    return url !== null && egress.refusalOf(new URL(url), NO_TEAM_SETTINGS) === null ? url : null
  }
  const port = await startApi({
    settings,
    store,
    ...resources,
    ...(await openOidc(settings, null, logger)),
    egress,
    aside: (next) => withEcho(systemClock, next),
    echoAt,
    requests: createRequestMetrics(telemetry.registry, telemetry.exemplars),
    tracing,
    logger,
    lifecycle,
  })
  localUrl = baseUrl(localHost(settings.host), port)
  folder.announce(localUrl)
  const testTime = store.testClock === null ? null : await store.testClock.read()
  if (testTime !== null)
    logger.warn('The time is that of a test clock: this installation is for tests', wireTime(testTime))
  logger.info('Standalone runs', {
    url: baseUrl(settings.host, port),
    opsUrl: baseUrl(settings.host, opsPort),
    ...(folder.tokenPath === null ? {} : { tokenFile: folder.tokenPath }),
  })
  // Without a text log, standard output goes to a log collector, which must not get the token.
  if (!isTextLog(settings.logFormat)) return
  const isEchoOpen = echoAt() !== null
  greet({
    localUrl,
    folder,
    manifests: settings.resources,
    isEchoOpen,
    loginPath: await loginPathOf(settings, folder, store),
    testTime,
    command: ownCommand({ startedFile: process.argv[1] ?? '', cwd: process.cwd(), hostName: hostname() }),
  })
  if (resources.isFirstStart && isEchoOpen) showFirstTry(localUrl, store, context)
}

function wireTime({ nowMs, aheadMs }: TestTime): Record<string, unknown> {
  return { now: new Date(nowMs).toISOString(), aheadSeconds: aheadMs / 1000 }
}

/** Path of the link to the dashboard; null if there is none, or nobody could log in by it now. */
async function loginPathOf(
  { dashboard, basePath }: StandaloneSettings,
  { token }: DataFolder,
  { engine }: Store,
): Promise<string | null> {
  if (dashboard === 'off' || !isDashboardBuilt()) return null
  const made = await createLoginCodes(engine)
    .create({ token, team: DEFAULT_TEAM })
    .catch(() => null)
  return made === null ? null : `${basePath}/#code=${made.code}`
}

/** Starts the executor on a connection of its own: it waits longer for Redis than the API may. */
async function startOwnExecutor(
  settings: StandaloneSettings & { readonly redisUrl: string },
  { telemetry, lifecycle }: StartContext,
  parts: {
    readonly testClock: Store['testClock']
    readonly tracing: Tracing
    readonly egress: EgressGuard
    readonly teams: BoundedTeamsSource & NotifiedTeamsSource & OwnSecretsSource
    readonly windows: WindowSource
  },
): Promise<Executor> {
  const commandTimeoutMs = EXECUTOR_COMMAND_TIMEOUT_MS
  const { testClock } = parts
  const role = { name: 'punctual-executor', commandTimeoutMs, testClock, telemetry, lifecycle }
  const store = await openStore(settings, role)
  return startExecutor({ name: 'standalone', settings, store, ...parts, telemetry, lifecycle })
}

/** Runs in the background; a failure is only logged. */
function showFirstTry(localUrl: string, store: Store, { telemetry, signal }: StartContext): void {
  showFirstJob({
    baseUrl: localUrl,
    team: DEFAULT_TEAM,
    intake: createJobIntake(store.engine, {
      nowMs: () => systemClock.monotonicMs(),
    }),
    jobs: createJobStore(store.engine),
    issues: createIssueStore(store.engine),
    jobIds: store.engine.jobIds,
    say,
    signal,
  }).catch((error: unknown) =>
    telemetry.logger.warn('The first job could not be shown', { reason: reasonOf(error) }),
  )
}
