/** The machine's own rules for names: `/etc/hosts`, and the search list of `/etc/resolv.conf`. */
import { isIP } from 'node:net'

export interface SearchRules {
  readonly domains: readonly string[]
  /** A name with fewer dots than this is tried below the search domains first. */
  readonly ndots: number
}

const NDOTS_DEFAULT = 1
const NDOTS_MAX = 15

/** hosts(5): an address, then names; `#` starts a comment. Names in lower case. */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const addressesByName = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = wordsOf(line.replace(/#.*/, ''))
    if (isIP(address) === 0) continue
    for (const name of names) {
      const known = addressesByName.get(name.toLowerCase())
      if (known === undefined) addressesByName.set(name.toLowerCase(), [address])
      else known.push(address)
    }
  }
  return addressesByName
}

/** resolv.conf(5): `search` or `domain` (the last one counts) and `options ndots:n`. */
export function parseSearchRules(text: string): SearchRules {
  let domains: readonly string[] = []
  let ndots = NDOTS_DEFAULT
  for (const line of text.split('\n')) {
    const [keyword, ...values] = wordsOf(line)
    if (keyword === 'search') domains = values
    else if (keyword === 'domain') domains = values.slice(0, 1)
    else if (keyword === 'options') ndots = ndotsOf(values) ?? ndots
  }
  return {
    domains: domains.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== ''),
    ndots,
  }
}

/** The full names to look up, in the order of the C library's resolver; a trailing dot allows only that name. */
export function candidatesOf(name: string, { domains, ndots }: SearchRules): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const searched = domains.map((domain) => `${name}.${domain}`)
  const dots = name.split('.').length - 1
  return dots >= ndots ? [name, ...searched] : [...searched, name]
}

function ndotsOf(options: readonly string[]): number | null {
  const option = options.findLast((text) => /^ndots:[0-9]+$/.test(text))
  return option === undefined ? null : Math.min(Number(option.slice('ndots:'.length)), NDOTS_MAX)
}

function wordsOf(line: string): readonly string[] {
  return line.split(/\s+/).filter((word) => word !== '')
}
