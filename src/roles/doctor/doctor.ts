import type { KeyObject } from 'node:crypto'
import { reasonOf, StartupError, StoreUnavailableError } from '../../domain/errors.ts'
import { checkClock } from '../../redis/upkeep/checks/clock-check.ts'
import { checkData } from '../../redis/upkeep/checks/data-check.ts'
import { checkInstallation } from '../../redis/upkeep/checks/installation-check.ts'
import { checkLeases } from '../../redis/upkeep/checks/lease-check.ts'
import { checkLosses } from '../../redis/upkeep/checks/loss-check.ts'
import { checkRedis } from '../../redis/upkeep/checks/redis-check.ts'
import { checkSecrets } from '../../redis/upkeep/checks/secrets-check.ts'
import { checkTokens } from '../../redis/upkeep/checks/tokens-check.ts'
import type { CheckResult } from '../../ports/health.ts'
import { connectRedis, type RedisConnection } from '../../redis/base/client/connection.ts'
import type { CheckName } from '../../settings/check-names.ts'
import type { DoctorSettings } from '../../settings/role-settings.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { openBriefEngine } from '../parts/brief-engine.ts'
import { secretBoxOf } from '../parts/engine-part.ts'
import { findAccess } from '../startup/kept-access.ts'
import { endpointOf } from '../parts/store.ts'
import { VERSION } from '../startup/version.ts'
import { createProgress, type Terminal } from './progress.ts'
import { reportOf, textOf, type CheckReport, type HealthReport } from './health-report.ts'

const COMMAND_TIMEOUT_MS = 10_000

/** A clock that is moved on purpose is neither right nor wrong. */
const FOR_TESTS: CheckResult = { summary: 'a test clock, which POST /api/test/clock moves', findings: [] }

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
    ...endpointOf({ ...settings, redisUrl: access.redisUrl }),
    name: 'punctual-doctor',
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    clock: systemClock,
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
  await add('redis', () => checkRedis(connection, settings))
  const { found, ...installation } = await checkInstallation(connection, settings.shards)
  // Without an installation of our version there is nothing more to read.
  if (found === null || isAsked('installation')) context.add('installation', installation)
  if (found === null) return
  const engine = openBriefEngine(connection, found)
  const box = secretBoxOf({ ...settings, secretsKey: context.secretsKey })
  await add('secrets', () => checkSecrets(engine, box))
  await add('tokens', () => checkTokens(engine))
  await add('clock', async () => (found.isForTests ? FOR_TESTS : checkClock(engine, systemClock)))
  await add('losses', () => checkLosses(engine))
  await add('leases', () => checkLeases(engine))
  const progress = createProgress(output.stderr, { shards: found.shards, clock: systemClock })
  try {
    await add('data', () => checkData(engine, { clock: systemClock, onProgress: progress.show }))
  } finally {
    progress.clear()
  }
}
