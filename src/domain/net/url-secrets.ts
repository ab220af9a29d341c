const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#]*)([^?#]*)(\?[^#]*)?/i
/** At these hosts the whole path is a credential, though parts of it look like words. */
const HOOK_HOST = new RegExp(
  `(?:^|\\.)(?:${[
    String.raw`hooks\.slack(?:-gov)?\.com|hooks\.zapier\.com|api\.telegram\.org|maker\.ifttt\.com`,
    String.raw`webhook\.office\.com|outlook\.office(?:365)?\.com|hook\.(?:[a-z0-9-]+\.)?(?:make|integromat)\.com`,
  ].join('|')})\\.?(?::\\d+)?$`,
  'i',
)
/** After this part of a path a long part is a token, even one of lower-case letters alone. */
const HOOK_PART = /^(?:web)?hooks?$/i
const ONE_WORD = /^(?=.*[a-z])[a-z0-9]+$/i
const TOKEN_CHARACTERS_MIN = 16
/** How often letters and digits, or lower and upper case, follow each other: words do it rarely, tokens do. */
const TOKEN_TURNS_MIN = 4
const TURN = /[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])/g

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
  const hook = parts.findIndex((part) => HOOK_PART.test(part))
  const isOfHook = (at: number) => hook !== -1 && at > hook
  return parts.map((part, at) => (isToken(part, isOfHook(at)) ? mask : part)).join('/')
}

function isToken(part: string, isOfHook: boolean): boolean {
  if (part.length < TOKEN_CHARACTERS_MIN) return false
  if (isOfHook && ONE_WORD.test(part)) return true
  const turns = part.replaceAll(/[-_.~]/g, '').match(TURN)
  return turns !== null && turns.length >= TOKEN_TURNS_MIN
}
