const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#]*)([^?#]*)(\?[^#]*)?/i
/** At these hosts the whole path is a credential, though parts of it look like words. */
const HOOK_HOST = new RegExp(
  `(?:^|\\.)(?:${[
    String.raw`hooks\.slack(?:-gov)?\.com|hooks\.zapier\.com|api\.telegram\.org|maker\.ifttt\.com`,
    String.raw`webhook\.office\.com|outlook\.office(?:365)?\.com|hook\.(?:[a-z0-9-]+\.)?(?:make|integromat)\.com`,
  ].join('|')})\\.?(?::\\d+)?$`,
  'i',
)
/** After this part of a path, or at a host with such a label, a long part is a token even if it looks like a word or an id. */
const HOOK_PART = /^(?:web)?hooks?$/i
const ONE_WORD = /^[a-z0-9]+$/i
const LETTERS_OF_ONE_CASE = /^(?:[a-z]+|[A-Z]+)$/
const TOKEN_CHARACTERS_MIN = 16
/** How often letters and digits, or lower and upper case, follow each other: words do it rarely, tokens do. */
const TOKEN_TURNS_MIN = 4
const TURN = /[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])/g
/** Fewer bits can be guessed, so they are an id and no secret: an id of 19 digits has 63. */
const TOKEN_BITS_MIN = 64
/** Elsewhere a number may be longer before it is a token: ids that begin with a time have up to 80 bits. */
const NUMBER_BITS_MIN = 81
/** The characters that a token may be made of, the smallest alphabet first. */
const ALPHABETS: ReadonlyArray<readonly [pattern: RegExp, size: number]> = [
  [/^\d+$/, 10],
  [/^(?:[\da-f]+|[\dA-F]+)$/, 16],
  [/^(?:[a-z]+|[A-Z]+)$/, 26],
  [/^(?:[\da-z]+|[\dA-Z]+)$/, 36],
  [/^[a-z]+$/i, 52],
]
const ALPHABET_MAX = 62
/** Letters of words that were joined may be a little unlikely. */
const UNLIKELY_BITS = -3
/** How many of a thousand letters of English texts are each of these, from a to z. */
const LETTERS_OF_WORDS = [
  82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20, 1,
]

/**
 * A URL without what lets somebody in: user and password, the query, the fragment, and parts of the path that look like
 * the tokens of web hooks. Any other text comes back as it is.
 * @param mask stands in place of each
 */
export function withoutUrlSecrets(text: string, mask: string): string {
  const [, scheme = '', host = '', path = '', query] = URL_PARTS.exec(text) ?? []
  if (scheme === '') return text
  return `${scheme}${host}${pathWithout(host, path, mask)}${query === undefined ? '' : `?${mask}`}`
}

function pathWithout(host: string, path: string, mask: string): string {
  if (HOOK_HOST.test(host)) return path.length > 1 ? `/${mask}` : path
  const parts = path.split('/')
  const isHookHost = host.split('.').some((label) => HOOK_PART.test(label))
  const hook = isHookHost ? 0 : parts.findIndex((part) => HOOK_PART.test(part))
  const isOfHook = (at: number) => hook !== -1 && at > hook
  return parts.map((part, at) => (isToken(part, isOfHook(at)) ? mask : part)).join('/')
}

function isToken(part: string, isOfHook: boolean): boolean {
  if (ONE_WORD.test(part)) {
    const bits = bitsOf(part)
    if (isOfHook && bits >= TOKEN_BITS_MIN) return true
    if (/^\d+$/.test(part)) return bits >= NUMBER_BITS_MIN
  }
  if (part.length < TOKEN_CHARACTERS_MIN) return false
  if (LETTERS_OF_ONE_CASE.test(part)) return !areOfWords(part)
  const turns = part.replaceAll(/[-_.~]/g, '').match(TURN)
  return turns !== null && turns.length >= TOKEN_TURNS_MIN
}

/** How many bits a text has that was drawn from the smallest alphabet with all its characters. */
function bitsOf(word: string): number {
  const [, size = ALPHABET_MAX] = ALPHABETS.find(([pattern]) => pattern.test(word)) ?? []
  return word.length * Math.log2(size)
}

/** Whether letters are more likely those of words than drawn at random, where each is as frequent as any other. */
function areOfWords(letters: string): boolean {
  const first = 'a'.charCodeAt(0)
  let bits = 0
  for (const letter of letters.toLowerCase()) {
    const perThousand = LETTERS_OF_WORDS[letter.charCodeAt(0) - first] ?? 0
    bits += Math.log2((perThousand * LETTERS_OF_WORDS.length) / 1000)
  }
  return bits > UNLIKELY_BITS
}
