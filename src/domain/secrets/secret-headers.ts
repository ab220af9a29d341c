/** Ends of header names, lower case without `-` and `_`, whose values let somebody in: `Set-Cookie`, `X-Api-Key`. */
const SECRET_HEADER = new RegExp(
  `(?:${[
    'authorization|cookie2?|tokens?|secrets?|credentials?|auth|session(?:id)?|jwt(?:assertion)?|hubsignature(?:256)?',
    // Not a bypass, nor a compass.
    'passwords?|passphrase|(?<!by|com)pass(?:wd|code)?',
    '(?:access|api|app|application|auth|client|functions|host|master|private|secret|shared|signing|subscription|webhook)keys?',
  ].join('|')})$`,
)

/** What Punctual says of itself: a fencing token is a counter. */
const OUR_HEADER = /^x-punctual-/i

/** Whether the value of a header of this name is shown to nobody. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name.toLowerCase().replaceAll(/[-_]/g, '')) && !OUR_HEADER.test(name)
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
    .filter(([name]) => isSecretHeader(name) || hidden.has(name.toLowerCase()))
    .flatMap(([name, value]) => [value, ...partsOf(name, value)])
    .flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
  return [...new Set(texts)]
    .filter((text) => text.length >= SCRUBBED_CHARACTERS_MIN)
    .toSorted((a, b) => b.length - a.length)
}

/** Of a cookie each pair and its value; of any other header what stands behind a scheme, as in `Bearer …`. */
function partsOf(name: string, value: string): readonly string[] {
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
