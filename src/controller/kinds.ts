import type { KubeObject, ObjectRef } from '../ports/kube-object.ts'
import type {
  ApiTokenSpec,
  ApiTokenStatus,
  HttpQueueSpec,
  HttpQueueStatus,
  TeamSettingsSpec,
  TeamSettingsStatus,
} from '../resources/generated/kinds.ts'

export interface HttpQueue extends KubeObject {
  readonly spec: HttpQueueSpec
  readonly status?: HttpQueueStatus
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
