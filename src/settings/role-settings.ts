import type { KeyObject } from 'node:crypto'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { StartupError } from '../domain/errors.ts'
import type { CAPACITY_SETTINGS } from './tables/capacity-table.ts'
import { basePathMistakes, basePathOf } from './tables/dashboard-table.ts'
import { loginMistakes } from './tables/login-table.ts'
import { mailMistakes } from './tables/mail-table.ts'
import { namespaceMistakes } from './tables/namespace-table.ts'
import { KUBERNETES } from './parsers.ts'
import { withRedisPassword } from './redis-password.ts'
import { readSettings, ROLE_NAMES } from './setting.ts'
import type { AnySetting, Environment, GivenFlags, RoleName, SettingValues } from './setting.ts'
import { SETTINGS } from './table.ts'
import { tlsMistakes } from './tables/tls-table.ts'

type Settings = typeof SETTINGS
type RoleTable<Role extends RoleName> = {
  readonly [Key in keyof Settings as Role extends Settings[Key]['roles'][number] ? Key : never]: Settings[Key]
}

/** The settings each role takes, in the order of its help. */
export const ROLE_TABLES = Object.freeze(
  Object.fromEntries(ROLE_NAMES.map((role) => [role, tableOf(role)])),
) as { readonly [Role in RoleName]: RoleTable<Role> }

function tableOf(role: RoleName): Readonly<Record<string, AnySetting>> {
  const entries = Object.entries<AnySetting>(SETTINGS)
  return Object.freeze(Object.fromEntries(entries.filter(([, { roles }]) => roles.includes(role))))
}

/** The values of a role. `Filled` holds those that it derives where nothing is given. */
type RoleValues<Role extends RoleName, Filled = unknown> = Omit<
  SettingValues<RoleTable<Role>>,
  'redisPassword' | keyof Filled
> &
  Readonly<Filled>

/** What roles of an installation must share, and standalone makes for itself. The API of a cluster gets no key. */
interface SharedRedis {
  redisUrl: string
}
interface Shared extends SharedRedis {
  secretsKey: KeyObject
}

/** `resources` is always a folder: the one given, or the data folder's. `basePath` is '' at the root. */
export type StandaloneSettings = RoleValues<'standalone', { resources: string; basePath: string }>
/** `resources` is `kubernetes` or a folder; a `secretsKey` is there with a folder, and with it alone. */
export type ApiSettings = RoleValues<'api', SharedRedis & { resources: string; basePath: string }>
export type ExecutorSettings = RoleValues<'executor', Shared & { podName: string }>
export type ControllerSettings = RoleValues<'controller', Shared & { podName: string; podNamespace: string }>
/** Absent a Redis or a key, the doctor takes those of the data folder. */
export type DoctorSettings = RoleValues<'doctor'>
/** Absent a Redis, these two take that of the data folder. */
export type BackupSettings = RoleValues<'backup'>
export type RestoreSettings = RoleValues<'restore'>
export type PrepareSettings = RoleValues<'prepare', { podNamespace: string }>
export type UninstallSettings = RoleValues<'uninstall', { podNamespace: string }>
export type CapacitySettings = SettingValues<typeof CAPACITY_SETTINGS>

/** @throws StartupError with every mistake, one a line */
export function loadStandaloneSettings(env: Environment, flags: GivenFlags): StandaloneSettings {
  const { values, mistakes } = withRedisPassword(readSettings(ROLE_TABLES.standalone, env, flags))
  refuseMistakes([
    ...mistakes,
    ...mailMistakes(values, mistakes),
    ...loginMistakes(values, { resources: null, before: mistakes }),
    ...basePathMistakes(values),
    ...equalPorts(values.port, values.opsPort),
    ...(values.resources === KUBERNETES ? [NO_CLUSTER] : []),
  ])
  const dataDir = resolve(values.dataDir)
  const resources = values.resources ?? join(dataDir, 'resources')
  return Object.freeze({ ...values, dataDir, resources, basePath: basePathOf(values) })
}

/** @throws StartupError with every mistake, one a line */
export function loadApiSettings(env: Environment, flags: GivenFlags): ApiSettings {
  const { values, mistakes } = withRedisPassword(readSettings(ROLE_TABLES.api, env, flags))
  const { resources } = values
  const login = loginMistakes(values, { resources, before: mistakes })
  const found = [
    ...mistakes,
    ...equalPorts(values.port, values.opsPort),
    ...login,
    ...basePathMistakes(values),
    ...tlsMistakes(values),
    ...namespaceMistakes(values),
  ]
  const redisUrl = requireRedis(values, [...found, ...resourceMistakes(values, mistakes)])
  const dataDir = resolve(values.dataDir)
  return Object.freeze({
    ...values,
    redisUrl,
    dataDir,
    resources: resources ?? KUBERNETES,
    secretsKey: resources === KUBERNETES ? null : values.secretsKey,
    otherSecretsKeys: resources === KUBERNETES ? [] : values.otherSecretsKeys,
    basePath: basePathOf(values),
  })
}

/** @throws StartupError with every mistake, one a line */
export function loadExecutorSettings(env: Environment, flags: GivenFlags): ExecutorSettings {
  const { values, mistakes } = withRedisPassword(readSettings(ROLE_TABLES.executor, env, flags))
  const shared = requireShared(values, [...mistakes, ...mailMistakes(values, mistakes)])
  return Object.freeze({ ...values, ...shared, podName: values.podName ?? hostname() })
}

/** @throws StartupError with every mistake, one a line */
export function loadControllerSettings(env: Environment, flags: GivenFlags): ControllerSettings {
  const { values, mistakes } = withRedisPassword(readSettings(ROLE_TABLES.controller, env, flags))
  const found = [...mistakes]
  if (values.scalingMin > values.scalingMax) {
    found.push(
      `PUNCTUAL_SCALING_MIN is ${values.scalingMin} and PUNCTUAL_SCALING_MAX is ${values.scalingMax}: the minimum must not be above the maximum.`,
    )
  }
  const podNamespace = values.podNamespace ?? ''
  found.push(...missingNamespace(podNamespace, { before: mistakes, why: 'the controller keeps its lease' }))
  found.push(...namespaceMistakes({ ...values, podNamespace }))
  const shared = requireShared(values, found)
  return Object.freeze({ ...values, ...shared, podName: values.podName ?? hostname(), podNamespace })
}

/** @throws StartupError with every mistake, one a line */
export function loadDoctorSettings(env: Environment, flags: GivenFlags): DoctorSettings {
  const { values, mistakes } = withRedisPassword(readSettings(ROLE_TABLES.doctor, env, flags))
  refuseMistakes(mistakes)
  return Object.freeze({ ...values, dataDir: resolve(values.dataDir) })
}

/** @throws StartupError with every mistake, one a line */
export function loadBackupSettings(env: Environment, flags: GivenFlags): BackupSettings {
  const { values, mistakes } = withRedisPassword(readSettings(ROLE_TABLES.backup, env, flags))
  refuseMistakes(mistakes)
  return Object.freeze({ ...values, dataDir: resolve(values.dataDir) })
}

/** @throws StartupError with every mistake, one a line */
export function loadRestoreSettings(env: Environment, flags: GivenFlags): RestoreSettings {
  const { values, mistakes } = withRedisPassword(readSettings(ROLE_TABLES.restore, env, flags))
  refuseMistakes(mistakes)
  return Object.freeze({ ...values, dataDir: resolve(values.dataDir) })
}

/** @throws StartupError with every mistake, one a line */
export function loadPrepareSettings(env: Environment, flags: GivenFlags): PrepareSettings {
  const { values, mistakes } = readSettings(ROLE_TABLES.prepare, env, flags)
  const podNamespace = values.podNamespace ?? ''
  const why = 'prepare makes Secrets'
  refuseMistakes([...mistakes, ...missingNamespace(podNamespace, { before: mistakes, why })])
  return Object.freeze({ ...values, podNamespace })
}

/** @throws StartupError with every mistake, one a line */
export function loadUninstallSettings(env: Environment, flags: GivenFlags): UninstallSettings {
  const { values, mistakes } = readSettings(ROLE_TABLES.uninstall, env, flags)
  const podNamespace = values.podNamespace ?? ''
  const why = 'uninstall stops the Deployments'
  refuseMistakes([
    ...mistakes,
    ...missingNamespace(podNamespace, { before: mistakes, why }),
    ...namespaceMistakes({ ...values, podNamespace }),
  ])
  return Object.freeze({ ...values, podNamespace })
}

const NO_CLUSTER =
  'PUNCTUAL_RESOURCES is kubernetes, which standalone cannot use: name a folder, or leave it out for resources/ in the data folder.'

/** Finds settings that an API lacks to know where its resources are. */
function resourceMistakes(
  { resources, secretsKey }: { readonly resources: string | null; readonly secretsKey: KeyObject | null },
  before: readonly string[],
): string[] {
  if (isReported(before, 'PUNCTUAL_RESOURCES', '--resources')) return []
  if (resources === null) {
    return [
      'PUNCTUAL_RESOURCES is not set: it says where resources lie and edits go, kubernetes or a folder such as ./resources.',
    ]
  }
  if (resources === KUBERNETES || secretsKey !== null) return []
  return missingKey(before, 'an API that keeps a folder of resources seals their secrets with it')
}

function missingKey(before: readonly string[], why: string): string[] {
  if (isReported(before, 'PUNCTUAL_SECRETS_KEY', '--secrets-key')) return []
  return [`PUNCTUAL_SECRETS_KEY is not set: ${why}, such as from "openssl rand -base64 32".`]
}

function missingNamespace(
  namespace: string,
  { before, why }: { readonly before: readonly string[]; readonly why: string },
): string[] {
  if (namespace !== '' || isReported(before, 'PUNCTUAL_POD_NAMESPACE', '--pod-namespace')) return []
  return [`PUNCTUAL_POD_NAMESPACE is not set: ${why} in its own namespace.`]
}

function refuseMistakes(mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new StartupError(mistakes.join('\n'))
}

function equalPorts(port: number, opsPort: number): string[] {
  if (port === 0 || port !== opsPort) return []
  return [`PUNCTUAL_PORT and PUNCTUAL_OPS_PORT are both ${port}: they must differ.`]
}

/** @throws StartupError with these mistakes and the ones found before */
function requireShared(
  { redisUrl, secretsKey }: { readonly redisUrl: string | null; readonly secretsKey: KeyObject | null },
  before: readonly string[],
): Shared {
  const mistakes = [...before, ...missingRedis(redisUrl, before)]
  if (secretsKey === null) {
    const why = 'every role of an installation but the API of a cluster needs the same one'
    mistakes.push(...missingKey(before, why))
  }
  refuseMistakes(mistakes)
  if (redisUrl === null || secretsKey === null) throw new Error('a value that is missing is a mistake')
  return { redisUrl, secretsKey }
}

/** @throws StartupError with these mistakes and the ones found before */
function requireRedis({ redisUrl }: { readonly redisUrl: string | null }, before: readonly string[]): string {
  refuseMistakes([...before, ...missingRedis(redisUrl, before)])
  if (redisUrl === null) throw new Error('a value that is missing is a mistake')
  return redisUrl
}

function missingRedis(redisUrl: string | null, before: readonly string[]): string[] {
  if (redisUrl !== null || isReported(before, 'PUNCTUAL_REDIS_URL', '--redis-url')) return []
  return ['PUNCTUAL_REDIS_URL is not set: this role needs a Redis, such as redis://127.0.0.1:6379.']
}

function isReported(mistakes: readonly string[], variable: string, flag: string): boolean {
  return mistakes.some((mistake) => mistake.startsWith(`${variable} `) || mistake.startsWith(`${flag} `))
}

/**
 * Variables that look like settings and are none, so that a misspelt name is noticed.
 * Variables that Kubernetes makes for a Service named punctual, and the client's own, do not count.
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

/** The settings as the log shows them: secrets only as `set` or null. */
export function describeSettings(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const table: Readonly<Record<string, AnySetting>> = SETTINGS
  const isSet = (value: unknown): boolean => value !== null && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      key,
      table[key]?.isSecret === true && isSet(value) ? 'set' : value,
    ]),
  )
}
