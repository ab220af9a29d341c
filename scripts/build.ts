/** Compiles src/, the client and the dashboard to dist/, and puts beside the code what it reads at run time. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

const ROOT = join(import.meta.dirname, '..')
const OUT = join(ROOT, 'dist')
const ENTRY = join(OUT, 'main.js')
/**
 * Stands for `dist/src/main.js`, so that the program has one place whatever it is compiled with. An older Node would
 * stop at syntax or at a module that it lacks, and name neither Node nor the version.
 */
const PROGRAM = `#!/usr/bin/env node
const [major = '0'] = process.versions.node.split('.')
if (Number(major) >= ${oldestNode()}) await import('./src/main.js')
else {
  console.error(\`punctual: Node ${oldestNode()} or newer is needed, this is \${process.version}: install it from https://nodejs.org, or run the container image\`)
  process.exitCode = 2
}
`
/** Files under src/ that are read, not imported. */
const READ_AT_RUN_TIME = ['src/**/*.lua', 'src/**/*.json', 'src/**/*.yaml', 'src/**/*.html']
/** Files at the root that a folder above the code must hold, in dist/ as in the checkout. */
const BESIDE_THE_CODE = ['openapi.yaml', 'crds/*.yaml', 'config/samples/*.yaml']

rmSync(OUT, { recursive: true, force: true })
compile()
copy(READ_AT_RUN_TIME)
copy(BESIDE_THE_CODE)
await buildDashboard()
makeExecutable()

/** The major version that package.json asks for. */
function oldestNode(): number {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string }
  }
  const [, major] = /^>=(\d+)$/.exec(engines.node) ?? []
  if (major === undefined)
    throw new Error(`engines.node of package.json is no >= of a major version: ${engines.node}`)
  return Number(major)
}

function compile(): void {
  try {
    execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' })
  } catch {
    process.exit(1)
  }
}

function copy(patterns: readonly string[]): void {
  for (const path of globSync([...patterns], { cwd: ROOT })) {
    const target = join(OUT, path)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(ROOT, path), target)
  }
}

/** Its files lie beside compressed ones, so that no request waits for a compression. */
async function buildDashboard(): Promise<void> {
  await build({ configFile: join(ROOT, 'dashboard/vite.config.ts'), logLevel: 'warn' })
  for (const path of globSync('dashboard/**/*.{js,css,svg}', { cwd: OUT })) {
    const content = readFileSync(join(OUT, path))
    writeFileSync(join(OUT, `${path}.br`), brotliCompressSync(content))
    writeFileSync(join(OUT, `${path}.gz`), gzipSync(content, { level: 9 }))
  }
}

function makeExecutable(): void {
  writeFileSync(ENTRY, PROGRAM)
  chmodSync(ENTRY, 0o755)
}
