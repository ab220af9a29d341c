/** The browser that the tests use. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'

const FIND = fileURLToPath(new URL('../../../scripts/chromium.sh', import.meta.url))

let found: { readonly path: string | null; readonly why: string } | null = null

/** Where it is, or why there is none. */
export function findChromium(): { readonly path: string | null; readonly why: string } {
  if (found === null) {
    const { status, stdout, stderr } = spawnSync(FIND, { encoding: 'utf8' })
    found =
      status === 0
        ? { path: stdout.trim(), why: '' }
        : { path: null, why: stderr.trim().split('\n').at(-1) ?? 'there is no Chromium' }
  }
  return found
}

export function launchChromium(): Promise<Browser> {
  const { path, why } = findChromium()
  if (path === null) throw new Error(why)
  // Root has no sandbox; and nothing may be asked of the Internet.
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update']
  return chromium.launch({ executablePath: path, args })
}
