import type { CronSettings } from '../crons/cron.ts'
import { RedirectedHeadersError } from '../errors.ts'
import type { JobFilter } from '../jobs/job-filter.ts'
import type { CallRecord, JobChain } from '../jobs/job.ts'
import { isPlainText } from '../jobs/job-view.ts'
import { isSecretHeader } from '../secrets/secret-headers.ts'
import { headerSecretIn, headerSecretsOf, isFromSecret } from '../secrets/secret-values.ts'
import { withoutUrlSecrets } from '../net/url-secrets.ts'

/** Shown in place of what needs the permission `payloads`, and of secret headers. In an edit it keeps what is there. */
export const MASK = '(hidden)'

const NO_NAMES: ReadonlySet<string> = new Set()

type TextMap = Readonly<Record<string, string>>

/** What a reader may see. */
export interface Sight {
  readonly seesPayloads: boolean
  /** Names of the team's further secret headers, in lower case. */
  readonly masked: ReadonlySet<string>
}

/** A chain as shown to a reader. Secret headers are masked even for those who may see payloads. */
export function shownChain(chain: JobChain, { seesPayloads, masked }: Sight): JobChain {
  if (!seesPayloads) return maskedChain(chain)
  const { request, calls } = chain
  const { headers } = request
  return {
    ...chain,
    request: {
      ...request,
      headers: headers && withoutSecretHeaders(headers, masked),
      headerSecrets: headers && headerSecretsOf(headers),
    },
    // A name may be masked only since the call was recorded.
    calls: masked.size === 0 ? calls : calls.map((call) => withoutSecretLinesOf(call, masked)),
  }
}

/** The chain without what was sent and received: of headers the names stay, of bodies whether there were any. */
function maskedChain(chain: JobChain): JobChain {
  const { request, calls } = chain
  const { payload, headers } = request
  const shown = isPlainText(request) ? MASK : JSON.stringify(MASK)
  return {
    ...chain,
    request: {
      ...request,
      url: withoutUrlSecrets(request.url, MASK),
      callbackUrl: request.callbackUrl && withoutUrlSecrets(request.callbackUrl, MASK),
      headers: headers && maskedHeaders(headers),
      // A name is no secret.
      headerSecrets: headers && headerSecretsOf(headers),
      payload: payload === null ? null : shown,
    },
    calls: calls.map(maskedCall),
  }
}

function maskedCall(call: CallRecord): CallRecord {
  const { request, response } = call
  const url = withoutUrlSecrets(request.url, MASK)
  return {
    ...call,
    request: { ...maskedMessage(request), url },
    response: response && maskedMessage(response),
  }
}

function withoutSecretLinesOf(call: CallRecord, masked: ReadonlySet<string>): CallRecord {
  const { request, response } = call
  return {
    ...call,
    request: { ...request, headers: withoutSecretLines(request.headers, masked) },
    response: response && { ...response, headers: withoutSecretLines(response.headers, masked) },
  }
}

/** Header lines as a call record keeps them. @param hidden names of others that are secret, in lower case */
export function withoutSecretLines(
  lines: ReadonlyArray<readonly [string, string]>,
  hidden: ReadonlySet<string> = NO_NAMES,
): ReadonlyArray<readonly [string, string]> {
  return lines.map(([name, value]) => (isSecretHeader(name, hidden) ? [name, MASK] : [name, value]))
}

function maskedMessage<Message extends CallRecord['request'] | NonNullable<CallRecord['response']>>(
  message: Message,
): Message {
  const { headers, body } = message
  return {
    ...message,
    headers: headers.map(([name]) => [name, MASK] as const),
    body: body === null || body === '' ? body : MASK,
  }
}

/** Cron settings as shown to a reader, masked like `shownChain`. */
export function shownCronSettings(settings: CronSettings, { seesPayloads, masked }: Sight): CronSettings {
  const { headers, payload, url, callbackUrl } = settings
  if (seesPayloads) return { ...settings, headers: withoutSecretHeaders(headers, masked) }
  return {
    ...settings,
    url: withoutUrlSecrets(url, MASK),
    callbackUrl: callbackUrl && withoutUrlSecrets(callbackUrl, MASK),
    headers: maskedHeaders(headers),
    payload: payload === null ? null : MASK,
  }
}

/** Shown headers, with the Secrets that values lie in: a manifest names them, as a name is no secret. */
export function withSecretPlaces(shown: TextMap, settings: TextMap): TextMap {
  const fromSecrets = Object.entries(settings).filter(([, value]) => isFromSecret(value))
  return { ...shown, ...Object.fromEntries(fromSecrets) }
}

/**
 * The headers of an edit: the mask, given in place of a value, keeps the one that is there. Case does not count. One that
 * keeps nothing is left out; see `missingHeader`.
 */
export function keptHeaders(given: TextMap, current: TextMap): TextMap {
  const known = byLowerName(current)
  const kept = Object.entries(given).flatMap(([name, value]) => {
    const text = value === MASK ? known.get(name.toLowerCase()) : value
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(kept)
}

/** The first header of an edit that would keep a value where there is none, as `headers.X-Name`; null = there is none. */
export function missingHeader(given: TextMap, current: TextMap): string | null {
  const known = byLowerName(current)
  const missing = Object.entries(given).find(
    ([name, value]) => value === MASK && !known.has(name.toLowerCase()),
  )
  return missing === undefined ? null : `headers.${missing[0]}`
}

function byLowerName(headers: TextMap): ReadonlyMap<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/**
 * Names of secret headers that a change would keep, and send to another origin: whoever may choose a URL would be sent
 * what is shown to nobody.
 * @param next.headers as given; undefined = those that are there
 * @param masked names of the team's further secret headers, in lower case
 */
export function redirectedHeaders(
  current: { readonly url: string; readonly headers: TextMap },
  next: { readonly url: string; readonly headers: TextMap | undefined },
  masked: ReadonlySet<string>,
): readonly string[] {
  if (URL.parse(next.url)?.origin === URL.parse(current.url)?.origin) return []
  const { headers: given = maskedHeaders(current.headers) } = next
  const known = byLowerName(current.headers)
  return Object.entries(given).flatMap(([name, value]) => {
    const text = value === MASK ? known.get(name.toLowerCase()) : undefined
    // A header secret goes to its hosts alone, wherever the job goes.
    if (text === undefined || headerSecretIn(text) !== null) return []
    return isSecretHeader(name, masked) || isFromSecret(text) ? [name] : []
  })
}

/** An edit of a cron whose masked headers have the values that are there. Throws RedirectedHeadersError. */
export function withKeptHeaders(
  change: Partial<CronSettings>,
  current: CronSettings,
  masked: ReadonlySet<string>,
): Partial<CronSettings> {
  const { headers, url = current.url } = change
  const redirected = redirectedHeaders(current, { url, headers }, masked)
  if (redirected.length > 0) throw new RedirectedHeadersError(redirected)
  return headers === undefined ? change : { ...change, headers: keptHeaders(headers, current.headers) }
}

/** The filter without the text that it looks for, which is of payloads. */
export function maskedFilter(filter: JobFilter): JobFilter {
  return filter.text === null ? filter : { ...filter, text: MASK }
}

function maskedHeaders(headers: TextMap): TextMap {
  const given = Object.entries(headers).filter(([, value]) => headerSecretIn(value) === null)
  return Object.fromEntries(given.map(([name]) => [name, MASK]))
}

/** Header secrets are shown beside them, by their names. */
function withoutSecretHeaders(headers: TextMap, masked: ReadonlySet<string>): TextMap {
  const lines = withoutSecretLines(
    Object.entries(headers).filter(([, value]) => headerSecretIn(value) === null),
    masked,
  )
  return Object.fromEntries(lines.map(([name, value]) => [name, isFromSecret(value) ? MASK : value]))
}
