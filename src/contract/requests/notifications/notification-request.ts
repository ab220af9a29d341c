import { type BodyResult, readJsonBody, type RequestBody } from '../../fields/json-body.ts'

const TEST_FIELDS: ReadonlySet<string> = new Set(['channel'])
/** Limit of a name in TeamSettings; a longer one cannot exist. */
const CHANNEL_CHARACTERS_MAX = 63

/** Checks the body of `POST /api/notifications/test`. `channel` is null for all. Never throws. */
export function readChannelTest(
  body: RequestBody,
  channels: readonly string[],
): BodyResult<{ readonly channel: string | null }> {
  return readJsonBody(body, TEST_FIELDS, (fields) => {
    const name = fields.text('channel', CHANNEL_CHARACTERS_MAX)
    const isKnown = name === null ? channels.length > 0 : channels.includes(name)
    // A name that is too long is reported already.
    if (!isKnown && fields.errors.count === 0) fields.refuse('channel', () => unknownChannel(name, channels))
    return { channel: name }
  })
}

function unknownChannel(name: string | null, channels: readonly string[]): string {
  if (channels.length === 0) return 'The team has no channel that can be used.'
  return `The team has no channel ${JSON.stringify(name)}; it has ${channels.join(', ')}.`
}
