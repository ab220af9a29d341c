import type { KeyObject } from 'node:crypto'
import { reasonOf, StartupError, StoreUnavailableError } from '../../domain/errors.ts'
import { JobIds } from '../../domain/jobs/job-ids.ts'
import { checkClock } from '../../redis/checks/clock-check.ts'
import { checkData } from '../../redis/checks/data-check.ts'
import { checkInstallation } from '../../redis/checks/installation-check.ts'
import { checkLeases } from '../../redis/checks/lease-check.ts'
import { checkRedis } from '../../redis/checks/redis-check.ts'
import { checkSecrets } from '../../redis/checks/secrets-check.ts'
import { checkTokens } from '../../redis/checks/tokens-check.ts'
import type { CheckResult } from '../../ports/health.ts'
import { connectRedis, type RedisConnection } from '../../redis/client/connection.ts'
import { createEngine, type Engine } from '../../redis/client/engine.ts'
import { loadScripts } from '../../redis/steps.ts'
import { createStepRunner } from '../../redis/client/step-runner.ts'
import type { CheckName } from '../../settings/check-names.ts'
import type { DoctorSettings } from '../../settings/role-settings.ts'
import { readDataFolder } from '../../standalone/data-folder.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { secretBoxOf } from '../parts/engine-part.ts'
import { placeOf } from '../parts/store.ts'
import { VERSION } from '../startup/version.ts'
import { createProgress, type Terminal } from './progress.ts'
import { reportOf, textOf, type CheckReport, type HealthReport } from './health-report.ts'

const COMMAND_TIMEOUT_MS = 10_000

export interface DoctorOutput {
  readonly isJson: boolean
  /** The one check to make; null = all of them. */
  readonly only: CheckName | null
  /** The report. */
  readonly stdout: Terminal
  /** Progress, on a terminal only. */
  readonly stderr: Terminal
}

/**
 * Checks an installation that may be at work, and reports. Answers whether nothing was found.
 * @throws StartupError when it could not look: the settings are wrong, or Redis is away
 */
export async function runDoctor(settings: DoctorSettings, output: DoctorOutput): Promise<boolean> {
  const access = findAccess(settings)
  const connection = await connectRedis({
    ...placeOf({ ...settings, redisUrl: access.redisUrl }),
    name: 'punctual-doctor',
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    logger: createLogger({ level: 'silent', format: 'json' }),
  })
  const checks: CheckReport[] = []
  const add = (name: CheckName, result: CheckResult): void => {
    const report = reportOf(name, result)
    checks.push(report)
    if (!output.isJson) output.stdout.write(textOf(report))
  }
  try {
    await runChecks(connection, { settings, secretsKey: access.secretsKey, output, add })
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    throw new StartupError(`Redis went away during the checks: ${reasonOf(error)}`, { cause: error })
  } finally {
    connection.disconnect()
  }
  const isHealthy = checks.every(({ status }) => status === 'ok')
  if (output.isJson) {
    const checkedAt = new Date(systemClock.wallMs()).toISOString()
    const report: HealthReport = { version: VERSION, checked_at: checkedAt, is_healthy: isHealthy, checks }
    output.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  }
  return isHealthy
}

interface CheckContext {
  readonly settings: DoctorSettings
  readonly secretsKey: KeyObject
  readonly output: DoctorOutput
  add(name: CheckName, result: CheckResult): void
}

async function runChecks(connection: RedisConnection, context: CheckContext): Promise<void> {
  const { settings, output } = context
  const isAsked = (name: CheckName): boolean => output.only === null || output.only === name
  const add = async (name: CheckName, look: () => Promise<CheckResult>): Promise<void> => {
    if (isAsked(name)) context.add(name, await look())
  }
  await add('redis', () => checkRedis(connection))
  const { found, ...installation } = await checkInstallation(connection, settings.shards)
  // Without an installation of our version there is nothing more to read.
  if (found === null || isAsked('installation')) context.add('installation', installation)
  if (found === null) return
  const engine = openEngine(connection, found)
  const box = secretBoxOf({ ...settings, secretsKey: context.secretsKey })
  await add('secrets', () => checkSecrets(engine, box))
  await add('tokens', () => checkTokens(engine))
  await add('clock', () => checkClock(engine, systemClock))
  await add('leases', () => checkLeases(engine))
  const progress = createProgress(output.stderr, { shards: found.shards, clock: systemClock })
  try {
    await add('data', () => checkData(engine, { clock: systemClock, onProgress: progress.show }))
  } finally {
    progress.clear()
  }
}

function openEngine(
  connection: RedisConnection,
  { shards, installation }: { readonly shards: number; readonly installation: string },
): Engine {
  const { metrics } = createMetrics({ processMetrics: false })
  const logger = createLogger({ level: 'silent', format: 'json' })
  return createEngine({
    runner: createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics }),
    jobIds: new JobIds(shards, installation),
    logger,
    metrics,
  })
}

/** From the settings, or else from the data folder of a standalone. */
function findAccess(settings: DoctorSettings): { redisUrl: string; secretsKey: KeyObject } {
  const folder =
    settings.redisUrl === null || settings.secretsKey === null ? readDataFolder(settings.dataDir) : null
  const redisUrl = settings.redisUrl ?? folder?.redisUrl ?? null
  const secretsKey = settings.secretsKey ?? folder?.secretsKey ?? null
  const missing = [
    ...(redisUrl === null ? ['PUNCTUAL_REDIS_URL'] : []),
    ...(secretsKey === null ? ['PUNCTUAL_SECRETS_KEY'] : []),
  ]
  if (redisUrl !== null && secretsKey !== null) return { redisUrl, secretsKey }
  throw new StartupError(
    `${missing.join(' and ')} must be set as for the roles: no standalone has kept them in ${settings.dataDir}.`,
  )
}
