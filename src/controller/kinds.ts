import type { KubeObject, ObjectKey, ObjectRef } from '../ports/kubernetes.ts'
import type {
  ApiTokenSpec,
  ApiTokenStatus,
  HttpCronSpec,
  HttpCronStatus,
  HttpQueueSpec,
  HttpQueueStatus,
  TeamSettingsSpec,
  TeamSettingsStatus,
} from '../resources/generated/kinds.ts'

/** Index of the view of queues: `queueKeyOf`. */
export const BY_QUEUE = 'queue'

export interface HttpQueue extends KubeObject {
  readonly spec: HttpQueueSpec
  readonly status?: HttpQueueStatus
}

export interface HttpCron extends KubeObject {
  readonly spec: HttpCronSpec
  readonly status?: HttpCronStatus
  /** Of a copy that leaves out payload and headers: how long these are. */
  readonly leftOutBytes?: number
}

export interface TeamSettings extends KubeObject {
  readonly spec: TeamSettingsSpec
  readonly status?: TeamSettingsStatus
}

export interface ApiToken extends KubeObject {
  readonly spec: ApiTokenSpec
  readonly status?: ApiTokenStatus
}

export function refOf({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { namespace, name, uid } = metadata
  return { apiVersion, kind, namespace, name, uid }
}

export function keyOf({ metadata }: KubeObject): ObjectKey {
  return `${metadata.namespace}/${metadata.name}`
}
