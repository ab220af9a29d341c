import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { BuiltFile } from './built-dashboard.ts'

/** Facts the page must know before its first request. */
export interface PageFacts {
  /** Prefix under which the installation is reached, such as `/punctual`; '' = at the root. */
  readonly basePath: string
  /** Provider at which people may log in instead of with a token; null = none. */
  readonly loginAt: string | null
  /** A target for trying out jobs, which they may call; null = there is none. */
  readonly echoAt: string | null
  /** Whether it goes by a test clock; no when absent. */
  readonly isForTests?: boolean
  /** Whether the request came with a session, which may have ended. A page without one asks for no data. */
  readonly hasSession: boolean
  /** Whether the browser vouches that a person opened it, and not the page of another site by a link or a window. */
  readonly isByHand: boolean
}

const ROOT = '<html lang="en"'
const BASE = '<base href="/"'

/** The page of every path. Attributes carry what it must know: the policy for its content allows no script in it. */
export function pageOf(html: string, facts: PageFacts): BuiltFile {
  const { basePath, loginAt, echoAt, isForTests = false, hasSession, isByHand } = facts
  const attributes = [
    ` data-session="${hasSession ? 'some' : 'none'}"`,
    isByHand ? ' data-by-hand' : '',
    loginAt === null ? '' : ` data-login-at="${escaped(loginAt)}"`,
    echoAt === null ? '' : ` data-echo-at="${escaped(echoAt)}"`,
    isForTests ? ' data-test-clock' : '',
  ].join('')
  const text = replaced(replaced(html, ROOT, ROOT + attributes), BASE, `<base href="${escaped(basePath)}/"`)
  const plain = Buffer.from(text)
  return {
    type: 'text/html; charset=utf-8',
    plain,
    encoded: { br: brotliCompressSync(plain), gzip: gzipSync(plain) },
  }
}

function replaced(text: string, part: string, by: string): string {
  if (!text.includes(part)) throw new Error(`the dashboard's index.html lacks ${part}`)
  // A function, because `$` in a text would stand for something.
  return text.replace(part, () => by)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
