import type { AlertType } from '../domain/alerts/alert.ts'
import type { Channel, ChannelType, Member } from '../domain/notifications/channel.ts'
import type { AppliedResources } from '../domain/managed-by.ts'
import { channelUrlProblem, isHostOpened } from '../domain/notifications/channel-url.ts'
import type { ChannelSpec, MemberSpec, SecretRef, TeamSettingsSpec } from './generated/kinds.ts'

/** A channel as its resource describes it, whose URL still lies in a Secret. */
export interface ChannelPlan {
  readonly name: string
  readonly type: ChannelType
  readonly alertTypes: readonly AlertType[]
  /** null = it is an e-mail channel. */
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

/** Lists the channels in the order of the spec, in which no default need be set yet. */
export function channelPlansOf(spec: Partial<TeamSettingsSpec>): readonly ChannelPlan[] {
  return (spec.notifications?.channels ?? []).map(({ name, type, alertTypes, secretRef }) => ({
    name,
    type: TYPES[type],
    alertTypes: [...new Set(alertTypes.map((alertType) => ALERT_TYPES[alertType]))],
    secretRef: secretRef ?? null,
  }))
}

/** A channel as its resource describes it: the other way round. */
export function channelSpecOf({ name, type, alertTypes, secretRef }: ChannelPlan): ChannelSpec {
  return {
    name,
    type: nameIn(TYPES, type),
    alertTypes: alertTypes.map((one) => nameIn(ALERT_TYPES, one)),
    ...(secretRef === null ? {} : { secretRef }),
  }
}

function nameIn<Name extends string, Value>(table: Readonly<Record<Name, Value>>, value: Value): Name {
  const found = (Object.keys(table) as Name[]).find((name) => table[name] === value)
  if (found === undefined) throw new Error(`no name for ${String(value)}`)
  return found
}

export function membersOf(spec: { readonly members: readonly MemberSpec[] }): readonly Member[] {
  return spec.members.map(({ name, email }) => ({ name, email }))
}

const APPLIED = { Editable: 'editable', ReadOnly: 'read-only' } as const

/** undefined = the installation's setting counts. */
export function appliedResourcesOf({
  appliedResources,
}: Pick<TeamSettingsSpec, 'appliedResources'>): AppliedResources | undefined {
  return appliedResources === undefined ? undefined : APPLIED[appliedResources]
}

/** Names the field of a channel's Secret in problems and conditions. */
export function secretFieldOf(index: number): string {
  return `spec.notifications.channels[${index}].secretRef`
}

const BLOCKED = 'The egress policy blocks the host of the URL.'

/**
 * Leaves out the egress entries that would let a host of the team pose as a chat service. Such a host may be public.
 */
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

/** Bounds what the URL of a channel may be. */
export interface ChannelUrlPolicy {
  /** The team's own list of what it opens. */
  readonly egressAllow: readonly string[]
  /** Tells whether the egress policy refuses a literal address or a name, without DNS. */
  readonly isBlocked: (url: URL) => boolean
}

/**
 * @param bytes the value of the Secret, in which white space around the URL, such as a line break at its end, does not
 * count
 */
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
