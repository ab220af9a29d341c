import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'

export type Encoding = 'br' | 'gzip'

/** A file as it is sent, whole in memory. */
export interface BuiltFile {
  readonly type: string
  readonly plain: Buffer
  /** The same compressed, as far as the build did. */
  readonly encoded: Readonly<Partial<Record<Encoding, Buffer>>>
}

/** The dashboard as scripts/build.ts leaves it. */
export interface BuiltDashboard {
  /** Every page's HTML before it is filled in. */
  readonly html: string
  /** Files by path, such as `/assets/index-1a2b.js`. */
  readonly files: ReadonlyMap<string, BuiltFile>
}

/** The built dashboard, relative to this file: the path differs between TypeScript and compiled code. */
const FOLDER = join(
  import.meta.dirname,
  '../../..',
  import.meta.filename.endsWith('.ts') ? 'dist/dashboard' : 'dashboard',
)
const HTML = 'index.html'
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export function isDashboardBuilt(): boolean {
  return existsSync(join(FOLDER, HTML))
}

/** Reads all of it, some 300 KiB. @returns null when there is none: the program runs from source, without a build */
export function readBuiltDashboard(folder: string = FOLDER): BuiltDashboard | null {
  const html = contentOf(join(folder, HTML))
  if (html === null) return null
  const files = new Map<string, BuiltFile>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    const path = join(entry.parentPath, entry.name)
    const [br, gzip] = [contentOf(`${path}.br`), contentOf(`${path}.gz`)]
    files.set(`/${relative(folder, path).replaceAll(sep, '/')}`, {
      type,
      plain: readFileSync(path),
      encoded: { ...(br !== null && { br }), ...(gzip !== null && { gzip }) },
    })
  }
  return { html: html.toString('utf8'), files }
}

/** null = there is no such file. */
function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
