import { untilLed } from '../redis/control/leader-epochs.ts'
import type { CompiledSettings } from '../redis/control/compiled-settings.ts'
import { createCronStore } from '../redis/crons/cron-store.ts'
import { createQueueStore } from '../redis/queues/queue-store.ts'
import { createSettingsCompiler, putOwnToken } from '../redis/control/settings-compiler.ts'
import { createNamespaceClaims } from '../redis/namespaces/namespace-claims.ts'
import { describeSettings, type ApiSettings } from '../settings/role-settings.ts'
import { type HttpCron, ResourceCronEditor } from '../kubernetes/resources/cron-editor.ts'
import { BY_QUEUE, EDITOR_INDEXES, ResourceQueueEditor } from '../kubernetes/resources/queue-editor.ts'
import { createManagedResources } from '../kubernetes/resources/managed-resources.ts'
import { createResourceWindows } from '../kubernetes/resources/resource-windows.ts'
import {
  API_TOKENS,
  HTTP_CRONS,
  HTTP_QUEUES,
  MAINTENANCE_WINDOWS,
  TEAM_SETTINGS,
} from '../kubernetes/resources/own-kinds.ts'
import { KubernetesUsers } from '../kubernetes/access/kubernetes-users.ts'
import type { UserAuthorizer, UserVerifier } from '../ports/access/user-verifier.ts'
import { createResourceSigningSecrets } from '../kubernetes/resources/resource-signing-secrets.ts'
import { SECRETS } from '../kubernetes/resources/secret-reader.ts'
import { createResourceTokens } from '../kubernetes/resources/resource-tokens.ts'
import type { CronEditor, CronStore } from '../ports/crons.ts'
import type { QueueEditor, QueueStore } from '../ports/queues.ts'
import type { ManagedResources } from '../ports/settings.ts'
import type { Clock } from '../ports/runtime.ts'
import type { SigningSecretStore } from '../ports/access/signing-secrets.ts'
import type { TokenKeeper } from '../ports/access/tokens.ts'
import type { WindowEditor, WindowStore } from '../ports/windows.ts'
import type { NamespaceClaims } from '../ports/access/namespaces.ts'
import { createRequestMetrics } from '../telemetry/requests/request-metrics.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { startApi } from './parts/api-part.ts'
import { baseUrl } from './startup/base-url.ts'
import {
  endWithInstallation,
  openEgress,
  startCompiledSettings,
  startCompiledWindows,
} from './parts/engine-part.ts'
import { createCronEditor, newNameSuffix } from './editors/cron-editor.ts'
import { signingSecretsInEngine } from './editors/engine-signing-secrets.ts'
import { tokensInEngine } from './editors/engine-tokens.ts'
import { createQueueEditor } from './editors/queue-editor.ts'
import { createWindowEditor, windowsInEngine } from './editors/window-editor.ts'
import { type Cluster, openCluster } from './parts/cluster-part.ts'
import { runUntilSignalled, type Lifecycle } from './startup/lifecycle.ts'
import { waitForRedis } from './startup/redis-wait.ts'
import { openOidc } from './parts/login-part.ts'
import { watchRedis } from './parts/redis-watch-part.ts'
import { API_REDIS, openStore, type Store } from './parts/store.ts'
import { createTelemetry, redisCheck, type Telemetry } from './parts/telemetry-part.ts'
import { waitForToken } from './startup/token-wait.ts'

/** The team of PUNCTUAL_TOKEN. */
const DEFAULT_TEAM = 'default'

export async function runApi(settings: ApiSettings): Promise<void> {
  const telemetry = createTelemetry(settings)
  const { logger } = telemetry
  logger.debug('Settings', describeSettings(settings))
  await runUntilSignalled(logger, async (lifecycle, signal) => {
    const open = () => openStore(settings, { ...API_REDIS, telemetry, lifecycle })
    const store = await waitForRedis(open, { clock: systemClock, logger, signal })
    await endWithInstallation(store, lifecycle)
    await watchRedis(settings, () => store.readServers(), { telemetry, lifecycle })
    if (settings.token !== null) {
      const compiler = createSettingsCompiler({ engine: store.engine, box: null, epoch: null })
      await putOwnToken(compiler, DEFAULT_TEAM, settings.token)
    }
    const compiled = await startCompiledSettings({ store, box: null }, { telemetry, lifecycle })
    const windows = await startCompiledWindows(store, { telemetry, lifecycle })
    const queues = createQueueStore(store.engine)
    const crons = createCronStore(store.engine)
    let isOpen = false
    await telemetry.startOpsServer({
      host: settings.host,
      port: settings.opsPort,
      checks: [
        redisCheck(store.connection),
        { name: 'api', failure: () => (isOpen ? null : 'takes no requests yet') },
      ],
      lifecycle,
    })
    if (settings.resources === 'kubernetes') {
      await untilLed(store.engine, { clock: systemClock, signal })
      await waitForToken(compiled, { clock: systemClock, logger, signal })
    }
    const { cluster = null, ...editors } = await openEditors(
      settings,
      { queues, crons, windows, store, compiled },
      { telemetry, lifecycle },
    )
    const port = await startApi({
      settings,
      store,
      queues,
      crons,
      windows,
      ...editors,
      ...(await openOidc(settings, cluster, logger)),
      compiled,
      egress: await openEgress(settings, store, { telemetry, lifecycle }),
      requests: createRequestMetrics(telemetry.registry),
      shutdownDelayMs: settings.shutdownDelaySeconds * 1000,
      logger,
      lifecycle,
    })
    isOpen = true
    const scheme = settings.tlsCert === null ? 'http' : 'https'
    logger.info('The API listens', { url: baseUrl(settings.host, port, scheme) })
  })
}

/** Only edits and users need the Kubernetes API: pushes with our tokens are accepted while it is away. */
async function openEditors(
  settings: ApiSettings,
  parts: {
    readonly queues: QueueStore
    readonly crons: CronStore
    readonly windows: WindowStore
    readonly store: Store
    readonly compiled: CompiledSettings
  },
  context: { readonly telemetry: Telemetry; readonly lifecycle: Lifecycle },
): Promise<{
  readonly editor: QueueEditor
  readonly managed?: ManagedResources
  readonly cronEditor: CronEditor
  readonly windowEditor: WindowEditor
  readonly users?: UserVerifier
  readonly cluster?: UserAuthorizer
  readonly tokenKeeper: TokenKeeper
  readonly signingSecrets: SigningSecretStore
}> {
  const { queues, crons, windows, store, compiled } = parts
  if (settings.resources === 'engine') {
    const compiler = createSettingsCompiler({ engine: store.engine, box: null, epoch: null })
    return {
      editor: createQueueEditor(queues),
      cronEditor: createCronEditor(crons, newNameSuffix),
      windowEditor: createWindowEditor({
        ...{ windows, newSuffix: newNameSuffix, keeper: windowsInEngine(compiler) },
      }),
      tokenKeeper: tokensInEngine(compiler, compiled),
      signingSecrets: signingSecretsInEngine(),
    }
  }
  const cluster = await openCluster({ namespaces: settings, fieldManager: 'punctual-api' }, context)
  const { informer, writer } = cluster.openKind(HTTP_QUEUES, EDITOR_INDEXES)
  const isWatched = (namespace: string): boolean => cluster.isWatched(namespace)
  const isReadOnly = (team: string): boolean =>
    (compiled.of(team).appliedResources ?? settings.appliedResources) === 'read-only'
  const shared = { isWatched, isReadOnly, clock: systemClock }
  const cronWriter = cluster.openWriter<HttpCron>(HTTP_CRONS)
  return {
    editor: new ResourceQueueEditor({ ...shared, queues, informer, writer }),
    cronEditor: new ResourceCronEditor({
      ...shared,
      crons,
      writer: cronWriter,
      newSuffix: newNameSuffix,
    }),
    managed: createManagedResources({ ...shared, queues: informer, index: BY_QUEUE, crons: cronWriter }),
    windowEditor: createWindowEditor({
      ...{ windows, newSuffix: newNameSuffix, mutex: (run) => run() },
      keeper: createResourceWindows({ ...shared, windows, writer: cluster.openWriter(MAINTENANCE_WINDOWS) }),
    }),
    ...openUsers(settings, { ...cluster, claims: createNamespaceClaims(store.engine) }, context.telemetry),
    ...openSecretKeepers(cluster, compiled, shared),
  }
}

/** What gives access, or proves who calls. */
function openSecretKeepers(
  cluster: Cluster,
  compiled: CompiledSettings,
  shared: {
    readonly isWatched: (namespace: string) => boolean
    readonly isReadOnly: (namespace: string) => boolean
    readonly clock: Clock
  },
): { readonly tokenKeeper: TokenKeeper; readonly signingSecrets: SigningSecretStore } {
  return {
    tokenKeeper: createResourceTokens({
      ...shared,
      isAccepted: (team, name) => compiled.isAccepted(team, name),
      writer: cluster.openWriter(API_TOKENS),
    }),
    signingSecrets: createResourceSigningSecrets({
      ...shared,
      settings: cluster.openWriter(TEAM_SETTINGS),
      secrets: cluster.openWriter(SECRETS),
      isUsed: (team, id) => compiled.of(team).signingSecretIds.includes(id),
    }),
  }
}

/** `cluster` says what users may do; `users`, whose tokens they are, where those are taken. */
function openUsers(
  { kubernetesUsers, kubernetesAudience: audience, watchNamespaces: namespaces }: ApiSettings,
  { transport, isWatched, claims }: Cluster & { readonly claims: NamespaceClaims },
  { logger }: Telemetry,
): { readonly cluster: UserAuthorizer; readonly users?: UserVerifier } {
  const tokens = kubernetesUsers === 'any' ? 'any' : 'jwt'
  const users = new KubernetesUsers({
    ...{ transport, tokens, audience, namespaces, isWatched, claims, clock: systemClock, logger },
  })
  return { cluster: users, ...(kubernetesUsers === 'off' ? {} : { users }) }
}
