import { createHmac, timingSafeEqual } from 'node:crypto'

/** An older call may be a replay by somebody else. Standard Webhooks proposes this bound. */
export const AGE_SECONDS_MAX = 300

export interface ReceivedCall {
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The bytes of the body before any parsing. */
  readonly body: Buffer
}

export interface SchemeVerdict {
  readonly scheme: 'X-Punctual-Signature' | 'webhook-signature'
  /** null = the signature is valid. */
  readonly fault: string | null
}

interface Terms {
  readonly secret: string
  readonly nowMs: number
  readonly ageSecondsMax: number
}

/** Judges each scheme whose headers the call has. A call that is not signed has no verdicts. */
export function verify(call: ReceivedCall, terms: Terms): readonly SchemeVerdict[] {
  const { headers } = call
  const verdicts: SchemeVerdict[] = []
  if (headers['x-punctual-signature'] !== undefined) {
    verdicts.push({ scheme: 'X-Punctual-Signature', fault: punctualFault(call, terms) })
  }
  if (headers['webhook-signature'] !== undefined) {
    verdicts.push({ scheme: 'webhook-signature', fault: webhookFault(call, terms) })
  }
  return verdicts
}

/** A call is verified when it is signed, and valid by every scheme it is signed by. */
export function isVerified(verdicts: readonly SchemeVerdict[]): boolean {
  return verdicts.length > 0 && verdicts.every(({ fault }) => fault === null)
}

function punctualFault({ headers, body }: ReceivedCall, terms: Terms): string | null {
  const timestamp = headers['x-punctual-timestamp'] ?? ''
  const expected = createHmac('sha256', terms.secret).update(`${timestamp}.`).update(body).digest()
  const given = [headers['x-punctual-signature'], headers['x-punctual-signature-previous']]
  const isRight = given.some((text) => isEqual(expected, Buffer.from(text ?? '', 'hex')))
  return ageFault('X-Punctual-Timestamp', timestamp, terms) ?? (isRight ? null : WRONG)
}

function webhookFault({ headers, body }: ReceivedCall, terms: Terms): string | null {
  const timestamp = headers['webhook-timestamp'] ?? ''
  const id = headers['webhook-id'] ?? ''
  if (id === '') return 'there is no webhook-id'
  const expected = createHmac('sha256', keyOf(terms.secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest()
  const given = (headers['webhook-signature'] ?? '').split(' ').filter((one) => one.startsWith('v1,'))
  const isRight = given.some((one) => isEqual(expected, Buffer.from(one.slice('v1,'.length), 'base64')))
  return ageFault('webhook-timestamp', timestamp, terms) ?? (isRight ? null : WRONG)
}

const WRONG = 'another secret, or other bytes than were signed'

function ageFault(name: string, timestamp: string, { nowMs, ageSecondsMax }: Terms): string | null {
  if (!/^[0-9]{1,12}$/.test(timestamp)) return `there is no ${name}`
  const ageSeconds = Math.round(nowMs / 1000 - Number(timestamp))
  if (Math.abs(ageSeconds) <= ageSecondsMax) return null
  const apart = ageSeconds > 0 ? `${ageSeconds} s old` : `${-ageSeconds} s ahead of this clock`
  return `${name} is ${apart}, more than ${ageSecondsMax} s`
}

/**
 * The key of Standard Webhooks: what the base64 after the prefix decodes to, or the text itself if it has no prefix.
 */
function keyOf(secret: string): Buffer {
  const prefix = 'whsec_'
  return secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : Buffer.from(secret)
}

function isEqual(expected: Buffer, given: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected)
}
