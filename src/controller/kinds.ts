import type { Informer, ObjectKey, ResourceWriter } from '../ports/kubernetes.ts'
import type { KubeObject, ObjectRef } from '../ports/resource-store.ts'
import type {
  ApiTokenSpec,
  ApiTokenStatus,
  Condition,
  HttpCronSpec,
  HttpCronStatus,
  HttpQueueSpec,
  HttpQueueStatus,
  MaintenanceWindowSpec,
  MaintenanceWindowStatus,
  TeamSettingsSpec,
  TeamSettingsStatus,
} from '../resources/generated/kinds.ts'
import { queueKey, queueKeyOf } from '../resources/queue-owner.ts'

interface CustomResource<Spec, Status> extends KubeObject {
  readonly spec: Spec
  readonly status?: Status
}

export type HttpQueue = CustomResource<HttpQueueSpec, HttpQueueStatus>
export interface HttpCron extends CustomResource<HttpCronSpec, HttpCronStatus> {
  /** Set on a copy without payload and headers, and says how many bytes these have. */
  readonly leftOutBytes?: number
}
export type TeamSettings = CustomResource<TeamSettingsSpec, TeamSettingsStatus>
export type ApiToken = CustomResource<ApiTokenSpec, ApiTokenStatus>
export type MaintenanceWindow = CustomResource<MaintenanceWindowSpec, MaintenanceWindowStatus>

/** An object whose status a reconciler writes. */
export interface ConditionedObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/** Reads and writes the objects of one kind. */
export interface KindAccess<T extends KubeObject> {
  readonly informer: Informer<T>
  /** Tells what changes in the API server. In the informer, objects also come and go with their namespace. */
  readonly changes: Pick<Informer<T>, 'isSynced' | 'onChange'>
  readonly writer: ResourceWriter<T>
}

/** Adds keys to the workqueue of each kind. */
export type Workqueues = Readonly<
  Record<
    'queues' | 'crons' | 'teams' | 'tokens' | 'windows',
    (key: ObjectKey, priority: 'high' | 'low') => void
  >
>

/** The field managers of this program. What they write is no change by others. */
export const OWN_MANAGERS: ReadonlySet<string> = new Set(['punctual-api', 'punctual-controller'])

/** Every TeamSettings has this name, so a namespace has one. */
export const TEAM_SETTINGS_NAME = 'team'

/** The index of HttpQueues by `queueKeyOf`, and of HttpCrons by the queue that they name. */
export const BY_QUEUE = 'queue'
/** The index of ApiTokens by `spec.sha256`. */
export const BY_HASH = 'hash'
/** The index of HttpCrons and MaintenanceWindows by namespace. */
export const BY_NAMESPACE = 'namespace'
/** The index of MaintenanceWindows by `resourceIndexOf`. */
export const BY_RESOURCE = 'resource'

/** The indexes that the informers must have. */
export const QUEUE_INDEXES: Readonly<Record<string, (queue: HttpQueue) => readonly string[]>> = {
  [BY_QUEUE]: (queue) => [queueKeyOf(queue)],
}
export const CRON_INDEXES: Readonly<Record<string, (cron: HttpCron) => readonly string[]>> = {
  [BY_NAMESPACE]: ({ metadata }) => [metadata.namespace],
  [BY_QUEUE]: ({ metadata: { namespace }, spec: { queue } }) =>
    queue === undefined ? [] : [queueKey(namespace, queue)],
}
export const TOKEN_INDEXES: Readonly<Record<string, (token: ApiToken) => readonly string[]>> = {
  [BY_HASH]: ({ spec }) => [spec.sha256],
}

export const WINDOW_INDEXES: Readonly<Record<string, (window: MaintenanceWindow) => readonly string[]>> = {
  [BY_NAMESPACE]: ({ metadata }) => [metadata.namespace],
  [BY_RESOURCE]: ({ metadata: { namespace }, spec: { resource } }) =>
    resource === undefined ? [] : [resourceIndexOf(resource.kind, queueKey(namespace, resource.name))],
}

/** @param key for a queue, the key of its queue name */
export function resourceIndexOf(kind: 'HttpQueue' | 'HttpCron', key: ObjectKey): string {
  return `${kind} ${key}`
}

export function refOf({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { namespace, name, uid } = metadata
  return { apiVersion, kind, namespace, name, uid }
}

export function keyOf({ metadata }: KubeObject): ObjectKey {
  return `${metadata.namespace}/${metadata.name}`
}
