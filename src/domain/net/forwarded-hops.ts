/** Reads which addresses proxies report, in `X-Forwarded-For` and `Forwarded` (RFC 7239). */
import { parseIpAddress } from './ip-address.ts'

/** More proxies than stand before any service; what is left of them is not looked at. */
export const HOPS_MAX = 32

/** Addresses from the nearest hop to the farthest; null = something that names no address. */
export type Hops = readonly (string | null)[]

/** A node, its port aside: `192.0.2.1:80`, `[2001:db8::1]:80`; a port may be obfuscated, as in `192.0.2.1:_p`. */
const PORT = /:(?:\d{1,5}|_[\w.-]+)$/
const BRACKETED = /^\[(?<address>[^\]]*)\](?<port>.*)$/
/** One pair of an element: a name, and a token or a quoted text. RFC 7239 §4 allows no space around `=`. */
const PAIR = /^\s*(?<name>[\w!#$%&'*+.^`|~-]+)=(?:"(?<quoted>(?:[^"\\]|\\.)*)"|(?<token>[^\s";,]+))\s*$/s

/** @param text the lines of the header, joined by commas */
export function forwardedForHops(text: string): Hops {
  return nearestFirst(text.split(',')).map(addressOfNode)
}

/** @param text the lines of the header, joined by commas */
export function forwardedHops(text: string): Hops {
  const elements = splitOutsideQuotes(text, ',')
  // Whoever leaves a quotation open could make the words of the proxies behind part of it.
  if (elements === null) return [null]
  return nearestFirst(elements).map(addressOfElement)
}

function nearestFirst(parts: readonly string[]): string[] {
  return parts.slice(-HOPS_MAX).toReversed()
}

function addressOfElement(element: string): string | null {
  let node: string | null = null
  for (const pair of splitOutsideQuotes(element, ';') ?? []) {
    const { name, quoted, token } = PAIR.exec(pair)?.groups ?? {}
    if (name === undefined) return null
    if (name.toLowerCase() !== 'for') continue
    // A name may be given only once: with two, nobody knows which one is meant.
    if (node !== null) return null
    node = token ?? (quoted ?? '').replaceAll(/\\(.)/gs, '$1')
  }
  return node === null ? null : addressOfNode(node)
}

function addressOfNode(text: string): string | null {
  const node = text.trim()
  const { address, port = '' } = BRACKETED.exec(node)?.groups ?? {}
  if (address !== undefined) {
    return familyOf(address) === 6 && (port === '' || PORT.test(port)) ? address : null
  }
  if (familyOf(node) !== null) return node
  const bare = node.replace(PORT, '')
  // Without brackets, what stands behind the last colon of an IPv6 address is part of it.
  return familyOf(bare) === 4 ? bare : null
}

function familyOf(text: string): 4 | 6 | null {
  return parseIpAddress(text)?.family ?? null
}

/** null when a quotation does not end. */
function splitOutsideQuotes(text: string, separator: string): string[] | null {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isQuoted = !isQuoted
    else if (isQuoted && character === '\\') at += 1
    else if (!isQuoted && character === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return isQuoted ? null : [...parts, text.slice(start)]
}
