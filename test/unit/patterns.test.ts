/** Every regular expression of the program: what a text may make it do. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from 'recheck'
import { parseAst } from 'vite'
import { beforeAll, describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
/** Of one pattern; the slowest takes a second on a busy machine. */
const CHECK_MS = 60_000
/** On a busy machine, too few attempts fit into the usual times, and a harmless pattern is taken for a slow one. */
const PATIENT = { seedingTimeout: 5_000, incubationTimeout: 5_000, attackTimeout: 10_000 }
const ALL_MS = 300_000
/** Patterns that are asked about at the same time. */
const TOGETHER = 4

/**
 * Patterns that take the square of what they read, or its cube, and why that is little. A longer text, or one of a team
 * without a bound, needs another pattern.
 */
const BOUNDED: Readonly<Record<string, string>> = {
  '/\\b[a-z][a-z0-9+.-]*:\\/\\/[^\\s"\'<>]*/gi': 'a line of the log has 2,000 characters',
  '/^\\s*(\\S+)\\s+(\\S+\\s+\\S+\\s+\\S+\\s+\\S+\\s+\\S+)\\s+(.*)$/m': 'a line of ps about our own process',
  '/[.\\s]+$/': 'the last line of our own Redis',
  '/_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_.+)?)$/': 'names of variables',
  '/[-.]+$/': 'a name of Kubernetes, of 253 characters',
  '/=+$/': 'a signing secret, of 512 characters',
  '/^-+|-+$/g': 'a display name, of 255 characters',
  '/\\|(\\[".*"\\])$/s': 'a record of our own',
  '/(\\d+):0\\b/g': 'a cell of our own',
  '/(\\d+):(\\d+)/g': 'a cell of our own',
  '/,state=online,.*,lag=(\\d+)/': 'INFO of our own Redis',
  '/\\/\\/.*@/': 'a setting of the installation',
  '/\\{([^}]+)\\}/': 'a key of our own',
  '/^[\\0-\\x20]+|[\\0-\\x20]+$/g': 'a URL, of 2,048 characters',
  '/[.-]+$/': 'a name of Kubernetes, of 253 characters',
  '/\\/+$/': 'an address that the person at the terminal gives',
  '/^\\s*("?)([^"<>\\p{Cc}]*?)\\1\\s*<([^<>]+)>\\s*$/u': 'a setting of the installation',
  '/([^/:@]+)(?:[:@][^/]*)?$/': 'an image of a manifest that the person at the terminal gives',
}

/** By their text; the file is the first that has it. */
const patterns = new Map<string, { readonly source: string; readonly flags: string; readonly file: string }>()
for (const file of globSync('src/**/*.ts', { cwd: ROOT, exclude: ['**/generated/**'] })) {
  collect(parseAst(readFileSync(join(ROOT, file), 'utf8'), { lang: 'ts' }), file)
}

function collect(node: unknown, file: string): void {
  if (typeof node !== 'object' || node === null) return
  const { regex } = node as { readonly regex?: { readonly pattern: string; readonly flags: string } }
  if (regex !== undefined) {
    const text = `/${regex.pattern}/${regex.flags}`
    if (!patterns.has(text)) patterns.set(text, { source: regex.pattern, flags: regex.flags, file })
    return
  }
  for (const inner of Object.values(node)) collect(inner, file)
}

/** `linear`, `polynomial` or `exponential`, or why it could not be judged. */
async function growthOf(
  source: string,
  flags: string,
  limits: Parameters<typeof check>[2] = {},
): Promise<string> {
  const judged = await check(source, flags, { ...limits, timeout: CHECK_MS })
  if (judged.status === 'safe') return 'linear'
  return judged.status === 'vulnerable' ? judged.complexity.type : `unknown: ${judged.error.kind}`
}

describe('the regular expressions of the program', () => {
  const growths = new Map<string, string>()

  beforeAll(async () => {
    const left = [...patterns]
    const work = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const [text, { source, flags }] = next
        growths.set(text, await growthOf(source, flags))
      }
    }
    await Promise.all(Array.from({ length: TOGETHER }, work))
    for (const [text, { source, flags }] of patterns) {
      if (growths.get(text) === 'linear' || BOUNDED[text] !== undefined) continue
      growths.set(text, await growthOf(source, flags, PATIENT))
    }
  }, ALL_MS)

  test('are found', () => {
    expect(patterns.size).toBeGreaterThan(300)
  })

  test('take no longer than the text is long, but for those that are bounded', () => {
    const slow = [...growths].filter(([, growth]) => growth !== 'linear')
    const unknown = slow.filter(([text, growth]) => growth !== 'polynomial' || BOUNDED[text] === undefined)
    expect(unknown.map(([text, growth]) => `${patterns.get(text)?.file}: ${text} is ${growth}`)).toEqual([])
    expect(Object.keys(BOUNDED).filter((text) => !slow.some(([one]) => one === text))).toEqual([])
  })

  test('are judged by what tells a bad one', async () => {
    expect(await growthOf('^(a+)+$', '')).toBe('exponential')
    expect(await growthOf('^a*a*$', '')).toBe('polynomial')
    expect(await growthOf('^[a-z]+$', '')).toBe('linear')
  })
})
