import type { RequestBody } from '../../contract/fields/json-body.ts'
import { readChannelEdit, readNewChannel } from '../../contract/requests/notifications/channel-request.ts'
import { toWireKeptChannel } from '../../contract/responses/notification-wire.ts'
import type { AuditedResource } from '../../domain/access/audit-record.ts'
import { SECRET_NAME_BYTES } from '../../domain/access/signing-secret.ts'
import { EditRefusedError } from '../../domain/errors.ts'
import { type Channel, nameOfChannelSecret } from '../../domain/notifications/channel.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { ChannelStore, KeptChannel } from '../../ports/notifications.ts'
import type { TeamSettingsSource } from '../../ports/settings.ts'
import { answerJson, answerNotFound } from '../answers.ts'
import { withAudit } from '../audit-trail.ts'
import { acceptedBody, type TeamRequest } from '../team-routes.ts'
import type { ChannelTests } from './channel-tests.ts'

export interface ChannelRouteParts {
  readonly channels: ChannelStore
  readonly auditLog: AuditLog
  readonly egress: EgressPolicy
  readonly teamSettings: TeamSettingsSource
  /** Random bytes fit for names of Secrets. */
  readonly newSecret: (bytes: number) => Uint8Array
}

export async function listChannels(
  { team, response }: TeamRequest,
  { channels }: ChannelRouteParts,
): Promise<void> {
  const kept = await channels.list(team)
  answerJson(response, 200, JSON.stringify({ channels: kept.map(toWireKeptChannel), next_cursor: null }))
}

/** A channel that was to be tested stays only if it took the test. */
export async function createChannel(
  context: TeamRequest,
  parts: ChannelRouteParts,
  { tests, body }: { readonly tests: ChannelTests; readonly body: RequestBody },
): Promise<void> {
  const { team, response } = context
  const settings = parts.teamSettings.of(team)
  const isBlocked = (url: URL): boolean => parts.egress.refusalOf(url, settings) !== null
  const given = acceptedBody(context, readNewChannel(body, { egressAllow: settings.egressAllow, isBlocked }))
  if (given === null) return
  const { isTested, ...channel } = given
  const secretName = nameOfChannelSecret(parts.newSecret(SECRET_NAME_BYTES))
  const made = await withAudit(parts.auditLog, context, {
    action: 'create',
    resource: resourceOf(channel.name),
    before: null,
    change: async () => {
      const kept = await parts.channels.create(team, { ...channel, secretName })
      if (isTested) await keepIfTaken(context, parts, { tests, channel })
      return kept
    },
    endOf: (kept) => ({ after: toWireKeptChannel(kept) }),
  })
  answerJson(response, 201, JSON.stringify(toWireKeptChannel(made)))
}

/** Throws EditRefusedError, once the channel is removed again, when it has not taken the test. */
async function keepIfTaken(
  context: TeamRequest,
  { channels, teamSettings }: ChannelRouteParts,
  { tests, channel }: { readonly tests: ChannelTests; readonly channel: Channel },
): Promise<void> {
  const { team } = context
  const isInForce = await channels.whenInForce(team, channel.name)
  const end = isInForce ? await tests.runFirst(context, channel, teamSettings.of(team)) : null
  if (end?.isSent === true) return
  const why =
    end === null
      ? 'The channel could not be tested, because its settings were not in force in time.'
      : `The channel did not accept the test message: ${end.answer}`
  const isRemoved = await channels.remove(team, channel.name).then(
    () => true,
    () => false,
  )
  throw new EditRefusedError(
    isRemoved
      ? `${why} It was not kept.`
      : `${why} It could not be removed again: delete the channel ${channel.name}.`,
  )
}

export async function changeChannel(
  context: TeamRequest,
  parts: ChannelRouteParts,
  body: RequestBody,
): Promise<void> {
  const { team, parameter, response } = context
  const edit = acceptedBody(context, readChannelEdit(body))
  if (edit === null) return
  const before = await findChannel(context, parts)
  if (before === undefined) return answerNotFound(response)
  const end = await withAudit(parts.auditLog, context, {
    action: 'edit',
    resource: resourceOf(before.name),
    before: toWireKeptChannel(before),
    change: () => parts.channels.edit(team, parameter('channel_id'), edit.alertTypes),
    endOf: (edited) => (edited === 'not_found' ? null : { after: toWireKeptChannel(edited) }),
  })
  if (end === 'not_found') answerNotFound(response)
  else answerJson(response, 200, JSON.stringify(toWireKeptChannel(end)))
}

export async function removeChannel(context: TeamRequest, parts: ChannelRouteParts): Promise<void> {
  const { team, response } = context
  const before = await findChannel(context, parts)
  if (before === undefined) return answerNotFound(response)
  const end = await withAudit(parts.auditLog, context, {
    action: 'delete',
    resource: resourceOf(before.name),
    before: toWireKeptChannel(before),
    change: () => parts.channels.remove(team, before.name),
    endOf: (removal) => (removal === 'removed' ? { after: null } : null),
  })
  if (end === 'removed') response.writeHead(204).end()
  else answerNotFound(response)
}

async function findChannel(
  { team, parameter }: TeamRequest,
  { channels }: ChannelRouteParts,
): Promise<KeptChannel | undefined> {
  const name = parameter('channel_id')
  return (await channels.list(team)).find((one) => one.name === name)
}

function resourceOf(name: string): AuditedResource {
  return { kind: 'channel', id: null, name }
}
