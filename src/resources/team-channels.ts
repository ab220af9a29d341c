import type { AlertType } from '../domain/alerts/alert.ts'
import type { Channel, ChannelType, Member } from '../domain/notifications/channel.ts'
import type { AppliedResources } from '../domain/managed-by.ts'
import { channelUrlProblem, isHostOpened } from '../domain/notifications/channel-url.ts'
import type { ChannelSpec, MemberSpec, SecretRef, TeamSettingsSpec } from './generated/kinds.ts'

/** A channel as its resource describes it: the URL still lies in a Secret. */
export interface ChannelPlan {
  readonly name: string
  readonly type: ChannelType
  readonly alertTypes: readonly AlertType[]
  /** null for e-mail. */
  readonly secretRef: SecretRef | null
}

const TYPES: Readonly<Record<ChannelSpec['type'], ChannelType>> = {
  Email: 'email',
  Slack: 'slack',
  Discord: 'discord',
  Webhook: 'webhook',
}
const ALERT_TYPES: Readonly<Record<ChannelSpec['alertTypes'][number], AlertType>> = {
  Warning: 'warning',
  Failure: 'failure',
  Recovery: 'recovery',
  LimitWarning: 'limit_warning',
}

/** The channels in the order of the spec. A CRD of a version before channels leaves the fields out. */
export function channelPlansOf(spec: Partial<TeamSettingsSpec>): readonly ChannelPlan[] {
  return (spec.notifications?.channels ?? []).map(({ name, type, alertTypes, secretRef }) => ({
    name,
    type: TYPES[type],
    alertTypes: [...new Set(alertTypes.map((alertType) => ALERT_TYPES[alertType]))],
    secretRef: secretRef ?? null,
  }))
}

export function membersOf(spec: { readonly members?: readonly MemberSpec[] }): readonly Member[] {
  return (spec.members ?? []).map(({ name, email }) => ({ name, email }))
}

const APPLIED = { Editable: 'editable', ReadOnly: 'read-only' } as const

/** undefined = as the installation says. */
export function appliedResourcesOf({
  appliedResources,
}: Pick<TeamSettingsSpec, 'appliedResources'>): AppliedResources | undefined {
  return appliedResources === undefined ? undefined : APPLIED[appliedResources]
}

/** The field of a channel's Secret, as problems and conditions name it. */
export function secretFieldOf(index: number): string {
  return `spec.notifications.channels[${index}].secretRef`
}

const BLOCKED = 'The egress policy blocks the host of the URL.'

/** Of egress entries those that do not let a host of the team speak as a chat service; such a host may be public. */
export function withoutChannelHosts(
  entries: readonly string[],
  channels: ReadonlyArray<Pick<Channel, 'url'>>,
): readonly string[] {
  return entries.filter(
    (entry) => !channels.some(({ url }) => url !== null && isHostOpened(new URL(url), [entry])),
  )
}

/** A channel, or why it is left out. `message` is a sentence and contains no part of the URL. */
export type ChannelCheck =
  | { readonly channel: Channel }
  | { readonly reason: 'SecretNotUsable' | 'ChannelUrlNotAllowed'; readonly message: string }

/** What the URL of a channel may be. */
export interface ChannelUrlPolicy {
  /** The team's list. */
  readonly egressAllow: readonly string[]
  /** Whether the egress policy refuses a literal address or a name, without DNS. */
  readonly isBlocked: (url: URL) => boolean
}

/** @param bytes the value of the Secret; white space around the URL, such as a line break at its end, is dropped */
export function channelOf(
  { name, type, alertTypes, secretRef }: ChannelPlan,
  bytes: Uint8Array | null,
  { egressAllow, isBlocked }: ChannelUrlPolicy,
): ChannelCheck {
  if (type === 'email') return { channel: { name, type, alertTypes, url: null } }
  const value = bytes === null ? '' : Buffer.from(bytes).toString('utf8').trim()
  if (value === '') {
    const place = secretRef === null ? 'The Secret' : `Key ${secretRef.key} of Secret ${secretRef.name}`
    return { reason: 'SecretNotUsable', message: `${place} is empty; it must hold the URL.` }
  }
  const problem = channelUrlProblem(type, value, egressAllow)
  if (problem !== null) return { reason: 'ChannelUrlNotAllowed', message: problem }
  if (isBlocked(new URL(value))) return { reason: 'ChannelUrlNotAllowed', message: BLOCKED }
  return { channel: { name, type, alertTypes, url: value } }
}
