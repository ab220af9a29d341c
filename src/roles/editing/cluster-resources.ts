import type { HttpCron } from '../../editors/cron-editor.ts'
import type { HttpQueue } from '../../editors/queue-editor.ts'
import { KubernetesUsers } from '../../kubernetes/access/kubernetes-users.ts'
import {
  API_TOKENS,
  HTTP_CRONS,
  HTTP_QUEUES,
  MAINTENANCE_WINDOWS,
  TEAM_SETTINGS,
} from '../../kubernetes/resources/own-kinds.ts'
import { QUEUE_NAME_INDEXES, queuesByName } from '../../kubernetes/resources/queues-by-name.ts'
import { SECRETS } from '../../kubernetes/resources/secret-reader.ts'
import type { NamespaceClaims } from '../../ports/access/namespaces.ts'
import type { UserAuthorizer, UserVerifier } from '../../ports/access/user-verifier.ts'
import { untilLed } from '../../redis/control/leader-epochs.ts'
import { createNamespaceClaims } from '../../redis/control/namespaces/namespace-claims.ts'
import { createCronStore } from '../../redis/crons/cron-store.ts'
import { createQueueStore } from '../../redis/jobs/queues/queue-store.ts'
import { UNFINISHED_ANNOTATION } from '../../resources/cron-secret.ts'
import type { ApiSettings } from '../../settings/role-settings.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { type Cluster, openCluster } from '../parts/cluster-part.ts'
import { startCompiledSettings, startCompiledWindows } from '../parts/engine-part.ts'
import type { Store } from '../parts/store.ts'
import type { Telemetry } from '../parts/telemetry-part.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'
import { waitForToken } from '../startup/token-wait.ts'
import { createEditors, type ResourceStores } from './editors-part.ts'
import type { OpenResources } from './folder-resources.ts'

export interface ClusterResources extends OpenResources {
  readonly users?: UserVerifier
  readonly cluster?: UserAuthorizer
}

export interface RoleContext {
  readonly telemetry: Telemetry
  readonly lifecycle: Lifecycle
}

/** Opens editors and users, which alone need the Kubernetes API: pushes with our tokens are accepted while it is away. */
export async function openClusterResources(
  settings: ApiSettings,
  store: Store,
  { signal, ...context }: RoleContext & { readonly signal: AbortSignal },
): Promise<ClusterResources> {
  const { logger } = context.telemetry
  const compiled = await startCompiledSettings({ store, box: null }, context)
  const windows = await startCompiledWindows(store, context)
  await untilLed(store.engine, { clock: systemClock, signal })
  await waitForToken(compiled, { clock: systemClock, logger, signal })
  const cluster = await openCluster({ namespaces: settings, fieldManager: 'punctual-api' }, context)
  const queues = createQueueStore(store.engine)
  const inForce = { queues, crons: createCronStore(store.engine), windows, compiled }
  return {
    ...inForce,
    editors: createEditors(storesInCluster(cluster), inForce, settings),
    ...openUsers(settings, { ...cluster, claims: createNamespaceClaims(store.engine) }, context.telemetry),
  }
}

function storesInCluster(cluster: Cluster): ResourceStores {
  const { informer, writer } = cluster.openKind<HttpQueue>(HTTP_QUEUES, QUEUE_NAME_INDEXES)
  const crons = cluster.openWriter<HttpCron>(HTTP_CRONS)
  const secrets = cluster.openWriter(SECRETS)
  return {
    queues: writer,
    crons,
    windows: cluster.openWriter(MAINTENANCE_WINDOWS),
    tokens: cluster.openWriter(API_TOKENS),
    settings: cluster.openWriter(TEAM_SETTINGS),
    secrets,
    cronSecrets: {
      create: (secret) => secrets.create(secret),
      removeNamed: (namespace, name) => secrets.removeNamed(namespace, name),
      finish: (cron, spec) => crons.withoutAnnotation(cron, UNFINISHED_ANNOTATION, spec),
    },
    resourcesOf: queuesByName(informer),
    isWatched: (namespace) => cluster.isWatched(namespace),
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
    transport,
    tokens,
    audience,
    namespaces,
    isWatched,
    claims,
    clock: systemClock,
    logger,
  })
  return { cluster: users, ...(kubernetesUsers === 'off' ? {} : { users }) }
}
