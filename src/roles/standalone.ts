import type { RequestListener } from 'node:http'
import { relative } from 'node:path'
import { reasonOf } from '../domain/errors.ts'
import { openFolderStore } from '../folder-store/folder-store.ts'
import type { EgressGuard } from '../outbound/egress/egress-guard.ts'
import type { Executor } from '../executor/executor.ts'
import type { Logger } from '../ports/runtime.ts'
import type { CronEditor, CronStore } from '../ports/crons.ts'
import type { QueueEditor, QueueStore } from '../ports/queues.ts'
import { NO_TEAM_SETTINGS, type BoundedTeamsSource } from '../ports/settings.ts'
import { CompiledSettings } from '../redis/control/compiled-settings.ts'
import { bindStoreId, whenThereIsRoom } from '../redis/installation/installation.ts'
import { createJobIntake } from '../redis/enqueue/job-intake.ts'
import { createJobStore } from '../redis/jobs/job-store.ts'
import { createCronStore } from '../redis/crons/cron-store.ts'
import { createQueueStore } from '../redis/queues/queue-store.ts'
import { SecretBox } from '../redis/control/secret-box.ts'
import { createSettingsCompiler, putOwnToken } from '../redis/control/settings-compiler.ts'
import { describeSettings, type StandaloneSettings } from '../settings/role-settings.ts'
import { quotasOfSettings } from '../settings/quota-table.ts'
import { openDataFolder, type DataFolder } from '../standalone/data-folder.ts'
import { createEchoTarget, ECHO_PATH, type EchoTarget } from '../standalone/echo-target.ts'
import { startRedisChild } from '../standalone/redis-server/redis-child.ts'
import { applySamples } from '../standalone/samples.ts'
import { isTextLog } from '../telemetry/logger.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { startApi } from './parts/api-part.ts'
import { baseUrl, localHost } from './startup/base-url.ts'
import { endWithInstallation, openEgress } from './parts/engine-part.ts'
import { startExecutor } from './parts/executor-part.ts'
import { showFirstJob } from './startup/first-try.ts'
import { applyFolderChange, folderEditors } from './parts/folder-part.ts'
import { runUntilSignalled, type Lifecycle } from './startup/lifecycle.ts'
import { API_REDIS, EXECUTOR_COMMAND_TIMEOUT_MS, openStore, type Store } from './parts/store.ts'
import { createTelemetry, leasesCheck, redisCheck, type Telemetry } from './parts/telemetry-part.ts'

const TEAM = 'default'

/** All roles in one process, with a Redis of its own unless one is named. Redis stops last. */
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
    clock: systemClock,
    logger,
    signal,
  })
  // Noted before it runs: an end may come, and be forced, while it loads its data. A start that fails leaves nothing.
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
  const { logger, metrics } = telemetry
  const store = await openStore({
    ...settings,
    url: redisUrl,
    ...API_REDIS,
    logger,
    metrics,
    lifecycle,
  })
  await endWithInstallation(store, lifecycle)
  const resources = await openResources(settings, folder, store, context)
  const egress = await openEgress(settings, redisUrl)
  let executor: Executor | null = null
  const opsPort = await telemetry.startOpsServer({
    host: settings.host,
    port: settings.opsPort,
    checks: [redisCheck(store.connection), leasesCheck(() => executor)],
    lifecycle,
  })
  executor = await startOwnExecutor(settings, redisUrl, {
    ...context,
    egress,
    teams: resources.compiled,
  })
  const port = await startApi({
    host: settings.host,
    port: settings.port,
    store,
    ...resources,
    settings: resources.compiled,
    quotas: quotasOfSettings(settings),
    egress,
    fallback: fallbackWith(createEchoTarget(systemClock)),
    limits: settings,
    logger,
    lifecycle,
  })
  const localUrl = baseUrl(localHost(settings.host), port)
  folder.announce(localUrl)
  logger.info('Standalone runs', {
    url: baseUrl(settings.host, port),
    opsUrl: baseUrl(settings.host, opsPort),
    ...(folder.tokenPath === null ? {} : { tokenFile: folder.tokenPath }),
  })
  // What is not for people goes to a collector of logs, where no token may be.
  if (!isTextLog(settings.logFormat)) return
  const isEchoOpen = egress.refusalOf(new URL(`${localUrl}${ECHO_PATH}`), NO_TEAM_SETTINGS) === null
  greet({ localUrl, folder, manifests: settings.manifests, isEchoOpen })
  if (resources.isFirstStart && isEchoOpen) showFirstTry(localUrl, store, context)
}

/** A connection of its own: an executor waits longer for Redis than the API may. */
async function startOwnExecutor(
  settings: StandaloneSettings,
  redisUrl: string,
  context: StartContext & { egress: EgressGuard; teams: BoundedTeamsSource },
): Promise<Executor> {
  const { logger, metrics } = context.telemetry
  const store = await openStore({
    ...settings,
    url: redisUrl,
    name: 'punctual-executor',
    commandTimeoutMs: EXECUTOR_COMMAND_TIMEOUT_MS,
    logger,
    metrics,
    lifecycle: context.lifecycle,
  })
  return startExecutor({
    name: 'standalone',
    redisUrl,
    redisCa: settings.redisCa,
    store,
    egress: context.egress,
    teams: context.teams,
    quotas: quotasOfSettings(settings),
    capacity: settings,
    graceMs: settings.graceSeconds * 1000,
    logger,
    metrics,
    lifecycle: context.lifecycle,
  })
}

interface Resources {
  readonly queues: QueueStore
  readonly editor: QueueEditor
  readonly crons: CronStore
  readonly cronEditor: CronEditor
  readonly compiled: CompiledSettings
  /** The samples were applied: nothing was there before. */
  readonly isFirstStart: boolean
}

/** Puts the token and the folder of resources in force and goes on watching the folder. */
async function openResources(
  settings: StandaloneSettings,
  folder: DataFolder,
  store: Store,
  { telemetry: { logger }, lifecycle }: StartContext,
): Promise<Resources> {
  const { connection } = store
  const queues = createQueueStore(store.engine)
  const crons = createCronStore(store.engine)
  const box = new SecretBox(folder.secretsKey)
  const compiler = createSettingsCompiler({ engine: store.engine, box, epoch: null })
  const compiled = new CompiledSettings({ connection, box, clock: systemClock, logger })
  await putOwnToken(compiler, TEAM, folder.token)
  lifecycle.onStop('compiled settings', () => compiled.stop())

  const resources = await openFolderStore({
    folder: settings.manifests,
    team: TEAM,
    statePath: folder.folderStatePath,
    logger,
    clock: systemClock,
  })
  await whenThereIsRoom(bindStoreId(connection, resources.storeId, settings.manifests))
  // Not before the folder is known to be the right one: another, still empty, is left as it is.
  const isFirstStart = applySamples(settings.manifests).length > 0
  lifecycle.onStop('resources', () => resources.stop())
  await resources.start(async (change) => {
    const refusals = await applyFolderChange(change, compiler)
    await compiled.refresh()
    return refusals
  })
  // Only now: what lies in Redis may be sealed under a former key, and the folder has just put it there anew.
  await compiled.start()
  return {
    queues,
    crons,
    ...folderEditors(resources, { queues, crons }),
    compiled,
    isFirstStart,
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Runs beside everything else; its faults are worth a line in the log and no more. */
function showFirstTry(localUrl: string, store: Store, { telemetry, signal }: StartContext): void {
  showFirstJob({
    baseUrl: localUrl,
    team: TEAM,
    intake: createJobIntake(store.engine, {
      nowMs: () => systemClock.monotonicMs(),
    }),
    jobs: createJobStore(store.engine),
    jobIds: store.engine.jobIds,
    say,
    signal,
  }).catch((error: unknown) =>
    telemetry.logger.warn('The first job could not be shown', { reason: reasonOf(error) }),
  )
}

/** Beside the API there is the echo target; it answers calls from this machine only. */
function fallbackWith(echo: EchoTarget): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]
    if (path === ECHO_PATH) return echo(request, response)
    request.resume()
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end('{"error":"Not found"}')
  }
}

function greet({
  localUrl,
  folder,
  manifests,
  isEchoOpen,
}: {
  localUrl: string
  folder: DataFolder
  manifests: string
  isEchoOpen: boolean
}): void {
  const token = folder.tokenPath === null ? '$PUNCTUAL_TOKEN' : `$(cat ${shown(folder.tokenPath)})`
  const tokenText = folder.tokenPath === null ? 'the one in PUNCTUAL_TOKEN' : folder.token
  say('')
  say(`  Punctual runs on ${localUrl}`)
  say(`  Token      ${tokenText}`)
  say(`  Resources  ${shown(manifests)} (queues, crons and team settings; changes are in force within 2 s)`)
  say('')
  if (!isEchoOpen) {
    say(
      '  Jobs may call public addresses only. To call targets on this machine, such as the echo target of the',
    )
    say('  next lines, start with PUNCTUAL_EGRESS_ALLOW=127.0.0.0/8,localhost.')
    say('')
  }
  say('  Push a job from another terminal:')
  say('')
  say(`  curl ${localUrl}/api/jobs -H "Authorization: Bearer ${token}" \\`)
  say(`    -H 'Content-Type: application/json' \\`)
  say(`    -d '{"queue": "emails", "url": "${localUrl}/echo", "payload": {"to": "ada"}}'`)
  say('')
}

function shown(path: string): string {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') ? path : short
}
