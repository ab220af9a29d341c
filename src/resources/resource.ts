import type { ApiToken } from '../domain/access/api-token.ts'
import type { SecretMarks } from '../domain/secrets/secret-use.ts'
import type { CronSettings } from '../domain/crons/cron.ts'
import type { QueueSettings } from '../domain/jobs/queue-settings.ts'
import type { AppliedResources } from '../domain/managed-by.ts'
import type { Member } from '../domain/notifications/channel.ts'
import type { TeamQuotas } from '../domain/quotas.ts'
import type { WindowSettings } from '../domain/windows/maintenance-window.ts'
import type { SecretRef } from './generated/kinds.ts'
import type { HeaderSecretPlan } from './secret-refs.ts'
import type { ChannelPlan } from './team-channels.ts'

export const API_VERSION = 'punctual.dev/v1alpha1'

export interface HttpQueueResource {
  readonly kind: 'HttpQueue'
  /** The namespace. */
  readonly team: string
  /** `metadata.name`. */
  readonly name: string
  /** The name that jobs are pushed to: `spec.queueName`, or `metadata.name`. */
  readonly queueName: string
  readonly settings: QueueSettings
  /** The queue's own, newest first, at most two. */
  readonly signingSecretRefs: readonly SecretRef[]
}

export interface TeamSettingsResource {
  readonly kind: 'TeamSettings'
  readonly team: string
  readonly name: 'team'
  readonly egressAllow: readonly string[]
  /** Newest first, at most two. */
  readonly signingSecretRefs: readonly SecretRef[]
  readonly headerSecrets: readonly HeaderSecretPlan[]
  readonly quotas: TeamQuotas
  readonly channels: readonly ChannelPlan[]
  readonly members: readonly Member[]
  /** undefined = the installation's setting counts. */
  readonly appliedResources: AppliedResources | undefined
  /** In lower case. */
  readonly maskedHeaders: readonly string[]
}

export interface HttpCronResource {
  readonly kind: 'HttpCron'
  readonly team: string
  readonly name: string
  readonly settings: CronSettings
  /** The cron's own, newest first, at most two. */
  readonly signingSecretRefs: readonly SecretRef[]
}

export interface MaintenanceWindowResource {
  readonly kind: 'MaintenanceWindow'
  readonly team: string
  readonly name: string
  readonly settings: WindowSettings
}

export interface ApiTokenResource extends ApiToken {
  readonly kind: 'ApiToken'
}

export interface SecretResource extends SecretMarks {
  readonly kind: 'Secret'
  readonly team: string
  readonly name: string
  readonly data: Readonly<Record<string, Uint8Array>>
}

export type Resource =
  | HttpQueueResource
  | HttpCronResource
  | MaintenanceWindowResource
  | TeamSettingsResource
  | ApiTokenResource
  | SecretResource

/** Where a resource stands in its file. */
export interface ManifestPlace {
  /** The number of the document, from 1. */
  readonly document: number
  /** The number of the item, from 1, where the document is a list; null = the document is the resource. */
  readonly item: number | null
}

/** A mistake in a manifest. Never contains a value of a Secret. */
export interface ManifestProblem {
  readonly file: string
  /** The number of the document, from 1; null = the whole file. */
  readonly document: number | null
  /** The number of the item, from 1; null = the document is no list, or the whole list. */
  readonly item: number | null
  /** The number of the line, from 1; null = it is unknown. */
  readonly line: number | null
  /** The path of the field in the resource, such as `spec.retryDelays[0]`; null = the whole resource. */
  readonly field: string | null
  /** A sentence that says what is allowed. */
  readonly reason: string
}

/** Writes one line: `queues.yaml, document 2, item 3, line 14, spec.timeoutSeconds: 0 must be from 1 to 300.` */
export function problemText(problem: ManifestProblem): string {
  const place = [
    problem.file,
    ...(problem.document === null ? [] : [`document ${problem.document}`]),
    ...(problem.item === null ? [] : [`item ${problem.item}`]),
    ...(problem.line === null ? [] : [`line ${problem.line}`]),
    ...(problem.field === null ? [] : [problem.field]),
  ]
  return `${place.join(', ')}: ${problem.reason}`
}

/** Identifies a resource within one folder, as Kubernetes does within a cluster. */
export interface Identity {
  readonly kind: string
  readonly team: string
  readonly name: string
}

export function identityOf({ kind, team, name }: Identity): string {
  return JSON.stringify([kind, team, name])
}
