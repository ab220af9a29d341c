import { type AlertType, ALERT_TYPES } from '../../../domain/alerts/alert.ts'
import { URL_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { channelUrlProblem } from '../../../domain/notifications/channel-url.ts'
import {
  type Channel,
  CHANNEL_TYPES,
  type ChannelType,
  DEFAULT_ALERT_TYPES,
} from '../../../domain/notifications/channel.ts'
import { type FieldReader, type IsBlocked, MappedFields } from '../../fields/field-reader.ts'
import { type BodyResult, readJsonBody, type RequestBody } from '../../fields/json-body.ts'
import { mustBeArray, mustHaveItemsBetween, refusedAs, required } from '../../fields/validation-texts.ts'

const NEW_FIELDS: ReadonlySet<string> = new Set(['name', 'type', 'alert_types', 'url', 'test'])
const EDIT_FIELDS: ReadonlySet<string> = new Set(['alert_types'])
const NAME_CHARACTERS_MAX = 63
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/

export interface NewChannel extends Channel {
  /** Whether it is kept only if it takes a test. */
  readonly isTested: boolean
}

interface UrlPolicy {
  /** The hosts that the team opens. */
  readonly egressAllow: readonly string[]
  readonly isBlocked: IsBlocked
}

/** Checks the body of `POST /api/notification-channels`. No error repeats a part of the URL. Never throws. */
export function readNewChannel(body: RequestBody, policy: UrlPolicy): BodyResult<NewChannel> {
  return readJsonBody(body, NEW_FIELDS, (fields) => {
    const name = readName(fields)
    const type = readType(fields)
    const alertTypes = readAlertTypes(fields) ?? DEFAULT_ALERT_TYPES
    const url = type === null ? null : readUrl(fields, type, policy)
    return {
      name: name ?? '',
      type: type ?? 'email',
      alertTypes,
      url,
      isTested: fields.boolean('test') ?? true,
    }
  })
}

/** Checks the body of `PATCH /api/notification-channels/{channel_id}`. Never throws. */
export function readChannelEdit(
  body: RequestBody,
): BodyResult<{ readonly alertTypes: readonly AlertType[] }> {
  return readJsonBody(body, EDIT_FIELDS, (fields) => {
    if (fields.value('alert_types') === undefined) fields.refuse('alert_types', required)
    return { alertTypes: readAlertTypes(fields) ?? [] }
  })
}

function readName(fields: FieldReader): string | null {
  const name = fields.requiredText('name', NAME_CHARACTERS_MAX)
  if (name === null || NAME.test(name)) return name
  return fields.refuse('name', (path) =>
    refusedAs(path, 'must consist of lower-case letters, digits and -, and must not begin or end with -.'),
  )
}

function readType(fields: FieldReader): ChannelType | null {
  if (fields.value('type') === undefined) return fields.refuse('type', required)
  return fields.choice('type', CHANNEL_TYPES)
}

function readAlertTypes(fields: FieldReader): readonly AlertType[] | null {
  const value = fields.value('alert_types')
  if (value === undefined) return null
  if (!Array.isArray(value)) return fields.refuse('alert_types', mustBeArray)
  if (value.length === 0 || value.length > ALERT_TYPES.length) {
    return fields.refuse('alert_types', (path) => mustHaveItemsBetween(path, 1, ALERT_TYPES.length))
  }
  const items: readonly unknown[] = value
  const item = new MappedFields(fields.errors, (path) => items[Number(path)] ?? '', 'alert_types.')
  return [...new Set(items.flatMap((_, index) => item.choice(String(index), ALERT_TYPES) ?? []))]
}

function readUrl(
  fields: FieldReader,
  type: ChannelType,
  { egressAllow, isBlocked }: UrlPolicy,
): string | null {
  if (type === 'email') {
    if (fields.value('url') === undefined) return null
    return fields.refuse('url', (path) =>
      refusedAs(path, 'cannot be given for e-mail, which goes to the members of the team.'),
    )
  }
  const url = fields.requiredText('url', URL_CHARACTERS_MAX)
  if (url === null) return null
  const problem = channelUrlProblem(type, url, egressAllow)
  if (problem !== null) return fields.refuse('url', (path) => refusedAs(path, `is not allowed. ${problem}`))
  if (isBlocked(new URL(url))) {
    return fields.refuse('url', (path) => refusedAs(path, 'has a host that the egress policy blocks.'))
  }
  return url
}
