import { isSecretHeader } from '../domain/secrets/secret-headers.ts'
import { isFromSecret, secretValueIn, secretValueText } from '../domain/secrets/secret-values.ts'
import type { CronSettings } from '../domain/crons/cron.ts'

/**
 * The annotation of an HttpCron that the API has made and whose Secret it may not have made yet. It is not applied until it
 * is taken away; a controller deletes a cron that has it for too long, because the API has died in between.
 */
export const UNFINISHED_ANNOTATION = 'punctual.dev/unfinished'

/** The most of a cron's name that its Secret is named after. */
const OWNER_CHARACTERS_MAX = 200

type Headers = CronSettings['headers']

/** Headers of which the secret ones lie in a Secret. */
export interface SplitHeaders {
  readonly headers: Headers
  /** Name and values of the Secret; null = no header needs one. */
  readonly secret: { readonly name: string; readonly values: Readonly<Record<string, string>> } | null
}

/**
 * Puts the values of secret headers into a Secret.
 * @param cron `metadata.name`
 * @param rest.masked names of the team's further secret headers, in lower case
 * @param rest.suffix 8 random hex digits: another Secret for each change
 */
export function splitHeaders(
  cron: string,
  headers: Headers,
  { masked, suffix }: { readonly masked: ReadonlySet<string>; readonly suffix: string },
): SplitHeaders {
  const secret = `${cron.slice(0, OWNER_CHARACTERS_MAX).replace(/[-.]+$/, '')}-headers-${suffix}`
  const values: Record<string, string> = {}
  const split = Object.entries(headers).map(([name, value], index): [string, string] => {
    // An empty value is no secret, and none that a Secret may hold.
    if (value === '' || isFromSecret(value) || !isSecretHeader(name, masked)) return [name, value]
    // The number makes it unique: a header's name has characters that a key of a Secret has not.
    const key = `${index}-${name.toLowerCase().replaceAll(/[^-._a-z0-9]/g, '_')}`.slice(0, 253)
    values[key] = value
    return [name, secretValueText({ cron, secret, key })]
  })
  if (Object.keys(values).length === 0) return { headers, secret: null }
  return { headers: Object.fromEntries(split), secret: { name: secret, values } }
}

/** Names of the Secrets that `splitHeaders` has made for this cron and that its headers name. @param cron `metadata.name` */
export function madeSecretsOf(cron: string, headers: Headers): ReadonlySet<string> {
  const { secret } = splitHeaders(cron, { authorization: 'x' }, { masked: new Set(), suffix: '' })
  const names = Object.values(headers).flatMap((text) => secretValueIn(text)?.secret ?? [])
  const isMade = (name: string) =>
    secret !== null && name.startsWith(secret.name) && /^[0-9a-f]{8}$/.test(name.slice(secret.name.length))
  return new Set(names.filter(isMade))
}

/** The headers with the same text for all values that are secret, or lie in a Secret. */
export function withoutSecretValues(headers: Headers, masked: ReadonlySet<string>): Headers {
  const entries = Object.entries(headers)
  return Object.fromEntries(
    entries.map(([name, text]) => [
      name,
      isFromSecret(text) || (text !== '' && isSecretHeader(name, masked)) ? secretValueText(SAME) : text,
    ]),
  )
}

const SAME = { cron: '-', secret: '-', key: '-' }

export function isUnfinished({
  metadata,
}: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
}): boolean {
  return metadata.annotations?.[UNFINISHED_ANNOTATION] !== undefined
}
