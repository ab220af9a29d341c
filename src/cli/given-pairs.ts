import { cliError, MISUSED } from './cli-error.ts'

/** Names that differ only in case are refused. */
export function headerPairs(given: readonly string[]): Readonly<Record<string, string>> {
  return pairs(given, { flag: '--header', separator: ':', sameName: (name) => name.toLowerCase() })
}

/** By the header that takes its value from there. */
export function headerSecretPairs(given: readonly string[]): Readonly<Record<string, string>> {
  return pairs(given, { flag: '--header-secret', separator: ':', sameName: (name) => name.toLowerCase() })
}

/** A tag as `push` takes it, `name=value`, as filters of the API name it. Other texts are left to the API to judge. */
export function tagFilter(given: string | undefined): string | undefined {
  return given?.replace(/^([^:=]+)=/, '$1:')
}

export function tagPairs(given: readonly string[]): Readonly<Record<string, string>> {
  return pairs(given, { flag: '--tag', separator: '=', sameName: (name) => name })
}

interface PairForm {
  readonly flag: string
  readonly separator: string
  /** Equal for names that the API treats as one. */
  readonly sameName: (name: string) => string
}

function pairs(
  given: readonly string[],
  { flag, separator, sameName }: PairForm,
): Readonly<Record<string, string>> {
  const found = new Map<string, readonly [name: string, value: string]>()
  for (const pair of given) {
    const at = pair.indexOf(separator)
    const name = pair.slice(0, Math.max(at, 0)).trim()
    if (name === '') throw cliError(`${flag} ${pair} must be name${separator}value`, MISUSED)
    // An object would silently keep only the last one.
    if (found.has(sameName(name))) throw cliError(`${flag} ${name} is given more than once`, MISUSED)
    found.set(sameName(name), [name, pair.slice(at + 1).trim()])
  }
  return Object.fromEntries(found.values())
}
