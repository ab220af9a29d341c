/**
 * A header whose value is not in the job or cron, but in a Secret that only executors get to know: in its place stands
 * where the value is. It begins with a character that no value may have, so that it is never taken for one, nor sent.
 */
const MARK = '\u0001'
/** No cron has an empty name. */
const TEAM_MARK = `${MARK}/`

type TextMap = Readonly<Record<string, string>>

/** The key of a Secret that an HttpCron names. */
export interface SecretValue {
  /** `metadata.name` of the HttpCron. */
  readonly cron: string
  readonly secret: string
  readonly key: string
}

/** Whether the value of a header lies in a Secret. */
export function isFromSecret(text: string): boolean {
  return text.startsWith(MARK)
}

/** The text that replaces the value. */
export function secretValueText({ cron, secret, key }: SecretValue): string {
  return `${MARK}${cron}/${secret}/${key}`
}

/** null = an ordinary value, or one of a header secret. */
export function secretValueIn(text: string): SecretValue | null {
  if (!isFromSecret(text) || text.startsWith(TEAM_MARK)) return null
  const [cron = '', secret = '', key = ''] = text.slice(MARK.length).split('/')
  return { cron, secret, key }
}

/** The text that replaces the value of a header secret. @param name of the header secret */
function headerSecretText(name: string): string {
  return `${TEAM_MARK}${name}`
}

/** The name of the header secret; null = another value. */
export function headerSecretIn(text: string): string | null {
  return text.startsWith(TEAM_MARK) ? text.slice(TEAM_MARK.length) : null
}

/** Headers of which some take their values from header secrets. @param named by header, as `headerSecretsOf` answers */
export function withHeaderSecrets(headers: TextMap, named: TextMap): TextMap {
  const entries = Object.entries(named)
  if (entries.length === 0) return headers
  const marked = entries.map(([header, name]) => [header, headerSecretText(name)] as const)
  return Object.fromEntries([...Object.entries(headers), ...marked])
}

/** @param contentType null = as the headers say */
export function withContentType(headers: TextMap, contentType: string | null): TextMap {
  if (contentType === null) return headers
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-type')
  return Object.fromEntries([...others, ['Content-Type', contentType]])
}

/** Headers that are to differ; undefined = as they are. */
export interface HeaderChange {
  readonly values: TextMap | undefined
  /** Names of header secrets, by header. */
  readonly secrets: TextMap | undefined
  /** null = as the headers say. */
  readonly contentType: string | null
}

/**
 * The headers of a copy: what is given of one kind leaves those of the other, but for a header of the same name.
 * @param change.values without masks
 */
export function changedHeaders(current: TextMap, { values, secrets, contentType }: HeaderChange): TextMap {
  const kept = Object.entries(current).filter(([, text]) =>
    headerSecretIn(text) === null ? values === undefined : secrets === undefined,
  )
  const given = withHeaderSecrets(values ?? {}, secrets ?? {})
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()))
  const headers = Object.fromEntries([
    ...kept.filter(([name]) => !names.has(name.toLowerCase())),
    ...Object.entries(given),
  ])
  return withContentType(headers, contentType)
}

/** Names of the header secrets that headers take their values from, by header. */
export function headerSecretsOf(headers: TextMap): TextMap {
  const named = Object.entries(headers).flatMap(([header, text]) => {
    const name = headerSecretIn(text)
    return name === null ? [] : [[header, name] as const]
  })
  return Object.fromEntries(named)
}
