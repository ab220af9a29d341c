import type { KeyObject } from 'node:crypto'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { StartupError } from '../domain/errors.ts'
import { CAPACITY_SETTINGS } from './capacity-table.ts'
import { quotasOf, type TeamQuotas } from '../domain/quotas.ts'
import { withRedisPassword } from './redis-password.ts'
import { readSettings } from './setting.ts'
import type { AnySetting, Environment, GivenFlags, SettingValues } from './setting.ts'
import { SETTINGS } from './table.ts'

const REDIS_ACCESS = {
  redisUrl: SETTINGS.redisUrl,
  redisPassword: SETTINGS.redisPassword,
  redisCa: SETTINGS.redisCa,
}
const REDIS = { ...REDIS_ACCESS, allowUnsafeRedis: SETTINGS.allowUnsafeRedis, shards: SETTINGS.shards }

const QUOTAS = {
  quotaQueues: SETTINGS.quotaQueues,
  quotaCrons: SETTINGS.quotaCrons,
  quotaPendingJobs: SETTINGS.quotaPendingJobs,
  quotaStoredBytes: SETTINGS.quotaStoredBytes,
  quotaJobsPerMonth: SETTINGS.quotaJobsPerMonth,
  quotaCallsInFlight: SETTINGS.quotaCallsInFlight,
}

const LOG = { logLevel: SETTINGS.logLevel, logFormat: SETTINGS.logFormat }

const STANDALONE = Object.freeze({
  port: SETTINGS.port,
  host: SETTINGS.host,
  opsPort: SETTINGS.opsPort,
  dataDir: SETTINGS.dataDir,
  manifests: SETTINGS.manifests,
  ...REDIS,
  redisMaxmemoryBytes: SETTINGS.redisMaxmemoryBytes,
  ...CAPACITY_SETTINGS,
  graceSeconds: SETTINGS.graceSeconds,
  maxConnections: SETTINGS.maxConnections,
  intakeBytes: SETTINGS.intakeBytes,
  token: SETTINGS.token,
  secretsKey: SETTINGS.secretsKey,
  egressAllow: SETTINGS.egressAllow,
  egressDeny: SETTINGS.egressDeny,
  egressAllowable: SETTINGS.egressAllowable,
  ...QUOTAS,
  ...LOG,
})

const EXECUTOR = Object.freeze({
  host: SETTINGS.host,
  opsPort: SETTINGS.opsPort,
  ...REDIS,
  ...CAPACITY_SETTINGS,
  graceSeconds: SETTINGS.graceSeconds,
  secretsKey: SETTINGS.secretsKey,
  egressAllow: SETTINGS.egressAllow,
  egressDeny: SETTINGS.egressDeny,
  egressAllowable: SETTINGS.egressAllowable,
  ...QUOTAS,
  podName: SETTINGS.podName,
  ...LOG,
})

const API = Object.freeze({
  port: SETTINGS.port,
  host: SETTINGS.host,
  opsPort: SETTINGS.opsPort,
  ...REDIS,
  maxConnections: SETTINGS.maxConnections,
  intakeBytes: SETTINGS.intakeBytes,
  drainSeconds: SETTINGS.drainSeconds,
  token: SETTINGS.token,
  secretsKey: SETTINGS.secretsKey,
  egressAllow: SETTINGS.egressAllow,
  egressDeny: SETTINGS.egressDeny,
  egressAllowable: SETTINGS.egressAllowable,
  ...QUOTAS,
  resources: SETTINGS.resources,
  watchNamespaces: SETTINGS.watchNamespaces,
  ...LOG,
})

const CONTROLLER = Object.freeze({
  host: SETTINGS.host,
  opsPort: SETTINGS.opsPort,
  ...REDIS,
  token: SETTINGS.token,
  secretsKey: SETTINGS.secretsKey,
  ...QUOTAS,
  podName: SETTINGS.podName,
  podNamespace: SETTINGS.podNamespace,
  watchNamespaces: SETTINGS.watchNamespaces,
  instanceName: SETTINGS.instanceName,
  executorDeployment: SETTINGS.executorDeployment,
  scalingMode: SETTINGS.scalingMode,
  scalingMin: SETTINGS.scalingMin,
  scalingMax: SETTINGS.scalingMax,
  scalingCallsPerPod: SETTINGS.scalingCallsPerPod,
  scalingDownSeconds: SETTINGS.scalingDownSeconds,
  ...LOG,
})

const DOCTOR = Object.freeze({
  dataDir: SETTINGS.dataDir,
  ...REDIS_ACCESS,
  shards: SETTINGS.shards,
  secretsKey: SETTINGS.secretsKey,
})

/** The settings each role takes, in the order of its help. */
export const ROLE_TABLES = Object.freeze({
  standalone: STANDALONE,
  controller: CONTROLLER,
  api: API,
  executor: EXECUTOR,
  doctor: DOCTOR,
})

export type RoleName = keyof typeof ROLE_TABLES

/** What the standalone runs with. `manifests` is always a folder: the one named, or the data folder's. */
export type StandaloneSettings = Omit<SettingValues<typeof STANDALONE>, 'manifests' | 'redisPassword'> & {
  readonly manifests: string
}

/** What the API runs with; its Redis is someone else's. */
export type ApiSettings = Omit<SettingValues<typeof API>, 'redisUrl' | 'redisPassword' | 'secretsKey'> & {
  readonly redisUrl: string
  readonly secretsKey: KeyObject
}

/** What an executor runs with; `host` is for its ops port. */
export type ExecutorSettings = Omit<
  SettingValues<typeof EXECUTOR>,
  'redisUrl' | 'redisPassword' | 'secretsKey' | 'podName'
> & {
  readonly redisUrl: string
  readonly secretsKey: KeyObject
  readonly podName: string
}

/** What the controller runs with; `host` is for its ops port. */
export type ControllerSettings = Omit<
  SettingValues<typeof CONTROLLER>,
  'redisUrl' | 'redisPassword' | 'secretsKey' | 'podName' | 'podNamespace'
> & {
  readonly redisUrl: string
  readonly secretsKey: KeyObject
  readonly podName: string
  readonly podNamespace: string
}

/** What the doctor looks with. Without a Redis or a key it takes those of the data folder. */
export type DoctorSettings = Omit<SettingValues<typeof DOCTOR>, 'redisPassword'>

/** What bounds an executor's calls. */
export type CapacitySettings = SettingValues<typeof CAPACITY_SETTINGS>

/** @throws StartupError with every mistake, one a line */
export function loadStandaloneSettings(env: Environment, flags: GivenFlags): StandaloneSettings {
  const { values, mistakes } = withRedisPassword(readSettings(STANDALONE, env, flags))
  refuseMistakes([...mistakes, ...equalPorts(values.port, values.opsPort)])
  const dataDir = resolve(values.dataDir)
  return Object.freeze({ ...values, dataDir, manifests: values.manifests ?? join(dataDir, 'resources') })
}

/** @throws StartupError with every mistake, one a line */
export function loadApiSettings(env: Environment, flags: GivenFlags): ApiSettings {
  const { values, mistakes } = withRedisPassword(readSettings(API, env, flags))
  const shared = requireShared(values, [...mistakes, ...equalPorts(values.port, values.opsPort)])
  return Object.freeze({ ...values, ...shared })
}

/** @throws StartupError with every mistake, one a line */
export function loadExecutorSettings(env: Environment, flags: GivenFlags): ExecutorSettings {
  const { values, mistakes } = withRedisPassword(readSettings(EXECUTOR, env, flags))
  return Object.freeze({
    ...values,
    ...requireShared(values, mistakes),
    podName: values.podName ?? hostname(),
  })
}

/** @throws StartupError with every mistake, one a line */
export function loadControllerSettings(env: Environment, flags: GivenFlags): ControllerSettings {
  const { values, mistakes } = withRedisPassword(readSettings(CONTROLLER, env, flags))
  const found = [...mistakes]
  if (values.scalingMin > values.scalingMax) {
    found.push(
      `PUNCTUAL_SCALING_MIN is ${values.scalingMin} and PUNCTUAL_SCALING_MAX is ${values.scalingMax}: the first must not be the greater.`,
    )
  }
  const podNamespace = values.podNamespace ?? ''
  if (podNamespace === '' && !isReported(mistakes, 'PUNCTUAL_POD_NAMESPACE', '--pod-namespace')) {
    found.push('PUNCTUAL_POD_NAMESPACE is not set: the controller keeps its lease in its own namespace.')
  }
  const shared = requireShared(values, found)
  return Object.freeze({ ...values, ...shared, podName: values.podName ?? hostname(), podNamespace })
}

/** @throws StartupError with every mistake, one a line */
export function loadDoctorSettings(env: Environment, flags: GivenFlags): DoctorSettings {
  const { values, mistakes } = withRedisPassword(readSettings(DOCTOR, env, flags))
  refuseMistakes(mistakes)
  return Object.freeze({ ...values, dataDir: resolve(values.dataDir) })
}

/** What every team may hold at most, as the installation says. */
export function quotasOfSettings(settings: SettingValues<typeof QUOTAS>): TeamQuotas {
  return quotasOf({
    queues: settings.quotaQueues,
    crons: settings.quotaCrons,
    pendingJobs: settings.quotaPendingJobs,
    storedBytes: settings.quotaStoredBytes,
    jobsPerMonth: settings.quotaJobsPerMonth,
    callsInFlight: settings.quotaCallsInFlight,
  })
}

function refuseMistakes(mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new StartupError(mistakes.join('\n'))
}

function equalPorts(port: number, opsPort: number): string[] {
  if (port === 0 || port !== opsPort) return []
  return [`PUNCTUAL_PORT and PUNCTUAL_OPS_PORT are both ${port}: they must differ.`]
}

/**
 * What every role of an installation must be told and standalone makes for itself.
 * @throws StartupError with these mistakes and the ones found before
 */
function requireShared(
  { redisUrl, secretsKey }: { readonly redisUrl: string | null; readonly secretsKey: KeyObject | null },
  before: readonly string[],
): { redisUrl: string; secretsKey: KeyObject } {
  const mistakes = [...before]
  if (redisUrl === null && !isReported(before, 'PUNCTUAL_REDIS_URL', '--redis-url')) {
    mistakes.push('PUNCTUAL_REDIS_URL is not set: this role needs a Redis, such as redis://127.0.0.1:6379.')
  }
  if (secretsKey === null && !isReported(before, 'PUNCTUAL_SECRETS_KEY', '--secrets-key')) {
    mistakes.push(
      'PUNCTUAL_SECRETS_KEY is not set: every role of an installation needs the same one, such as from "openssl rand -base64 32".',
    )
  }
  refuseMistakes(mistakes)
  if (redisUrl === null || secretsKey === null) throw new Error('a value that is missing is a mistake')
  return { redisUrl, secretsKey }
}

function isReported(mistakes: readonly string[], variable: string, flag: string): boolean {
  return mistakes.some((mistake) => mistake.startsWith(`${variable} `) || mistake.startsWith(`${flag} `))
}

/**
 * Variables that look like settings and are none, so that a slip of the pen in a name does not pass in silence.
 * Those Kubernetes makes for a Service named punctual, and the client's own, are left out.
 */
export function unknownVariables(env: Environment, known: readonly string[] = []): readonly string[] {
  const names = new Set([
    ...Object.values<AnySetting>(SETTINGS).map((one) => one.variable as string),
    ...known,
  ])
  return Object.keys(env)
    .filter((name) => name.startsWith('PUNCTUAL_') && !names.has(name) && !SERVICE_VARIABLE.test(name))
    .sort()
}

const SERVICE_VARIABLE = /_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_.+)?)$/

/** The settings for the log: secrets as `set` or null, everything else as it is. */
export function describeSettings(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const table: Readonly<Record<string, AnySetting>> = SETTINGS
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      key,
      table[key]?.isSecret === true && value !== null ? 'set' : value,
    ]),
  )
}
