/** Keys that name something, and let nobody in. */
const NAMING_KEYS = [
  'cache|dedup(?:e|lication)?|foreign|group|i18n|idempotency|message|object|order(?:ing)?|partition|primary|public|range',
  'record|row|routing|sort|surrogate|translation|websocket',
].join('|')

/** Ends of header names, lower case without `-` and `_`, whose values let somebody in: `Set-Cookie`, `X-Api-Key`. */
const SECRET_HEADER = new RegExp(
  `(?:${[
    'authorization|authentication|cookie2?|tokens?|secrets?|credentials?|auth|session(?:id)?|jwt(?:assertion)?',
    // Who holds the signature of a request may send it again.
    'signature(?:256)?',
    // Not a bypass, nor a compass.
    'passwords?|passphrase|(?<!by|com)pass(?:wd|code)?',
    `(?<!${NAMING_KEYS})keys?`,
  ].join('|')})$`,
)
/** Words so short that they are ends of others: `X-Spin`, `X-Compat`. */
const SHORT_SECRET = /(?:^|[-_])(?:otp|totp|pat|pin|psk)$/

const NO_NAMES: ReadonlySet<string> = new Set()

/** Headers by which Punctual describes itself are not secret: a fencing token is a counter, a signature is of one call. */
const OUR_HEADER = /^(?:x-punctual-|webhook-)/

/**
 * Whether the value of a header of this name is shown to nobody.
 * @param masked names that are secret too, in lower case
 */
export function isSecretHeader(given: string, masked: ReadonlySet<string> = NO_NAMES): boolean {
  const name = given.toLowerCase()
  if (masked.has(name)) return true
  if (OUR_HEADER.test(name)) return false
  return SECRET_HEADER.test(name.replaceAll(/[-_]/g, '')) || SHORT_SECRET.test(name)
}

/** A shorter text is found in bodies by chance. */
const SCRUBBED_CHARACTERS_MIN = 8

/**
 * The texts of secret headers that a target could repeat in its answer, as they are or within a JSON string. The longest
 * first, so that none is replaced in part.
 * @param hidden names of others that are secret, in lower case
 */
export function secretTextsOf(
  headers: ReadonlyArray<readonly [string, string]>,
  hidden: ReadonlySet<string>,
): readonly string[] {
  const texts = headers
    .filter(([name]) => isSecretHeader(name, hidden))
    .flatMap(([name, value]) => [value, ...partsOf(name, value)])
    .flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
  return [...new Set(texts)]
    .filter((text) => text.length >= SCRUBBED_CHARACTERS_MIN)
    .toSorted((a, b) => b.length - a.length)
}

/**
 * Splits a header's value into the texts that may be secret: each pair of a cookie and its value; what `Basic …` stands for,
 * and its password; of any other header what follows a scheme, as in `Bearer …`.
 */
function partsOf(name: string, value: string): readonly string[] {
  const [, basic] = /^basic +(\S+)$/i.exec(value) ?? []
  if (basic !== undefined) {
    const pair = Buffer.from(basic, 'base64').toString('utf8')
    return [basic, pair, pair.slice(pair.indexOf(':') + 1)]
  }
  if (!/cookie2?$/i.test(name)) return value.split(/[ ;,]+/).slice(1)
  return value.split(/[ ;,]+/).flatMap((pair) => [pair, pair.slice(pair.indexOf('=') + 1)])
}

/** A text of an answer without these texts; where it is cut, also without the beginning of one that the cut has parted. */
export function withoutSecretTexts(
  text: string,
  secrets: readonly string[],
  { mask, isCut }: { readonly mask: string; readonly isCut: boolean },
): string {
  const scrubbed = secrets.reduce((rest, secret) => rest.replaceAll(secret, mask), text)
  if (!isCut) return scrubbed
  const parted = Math.max(0, ...secrets.map((secret) => begunAtEnd(scrubbed, secret)))
  return scrubbed.slice(0, scrubbed.length - parted)
}

/** How many characters at the end of a text are the beginning of a secret, in time that grows with the secret alone. */
function begunAtEnd(text: string, secret: string): number {
  // Knuth, Morris and Pratt: after each character of the secret, where to go on when the next one does not match.
  const goOn = [0]
  const next = (matched: number, character: string | undefined): number => {
    let at = matched
    while (at > 0 && secret[at] !== character) at = goOn[at - 1] ?? 0
    return secret[at] === character ? at + 1 : at
  }
  for (let at = 1; at < secret.length; at += 1) goOn.push(next(goOn[at - 1] ?? 0, secret[at]))
  let matched = 0
  for (let at = Math.max(0, text.length - secret.length + 1); at < text.length; at += 1) {
    matched = next(matched, text[at])
  }
  return matched
}
