const LABEL_CHARACTERS_MAX = 63
export const HOST_NAME_CHARACTERS_MAX = 253

/**
 * Whether the host of a parsed URL is a literal address or a valid DNS name (RFC 1035 §2.3.4): WHATWG's parser also
 * accepts empty and overlong labels. A dot at the end makes a name absolute.
 * @param hostname as `URL` gives it: lower case, in punycode
 */
export function isCallableHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return true
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  if (name.length > HOST_NAME_CHARACTERS_MAX) return false
  return name.split('.').every((label) => label.length > 0 && label.length <= LABEL_CHARACTERS_MAX)
}
