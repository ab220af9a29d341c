/**
 * Lays out what the container image holds: its init, dist/ with the files it reads, and the packages that the program
 * loads in a container, without what only editors and tests read. Usage: node scripts/image-tree.ts <folder>, after a
 * build. The packages come from node_modules, as the lock file lists them, so nothing is fetched.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { imagePackages, type LockedPackage } from './image-packages.ts'

const ROOT = join(import.meta.dirname, '..')
/** Types, maps, sources, prose and tests; binaries for the runtime called Bare. Licences stay. */
const LEFT_OUT = [
  /\.(?:d\.[cm]?ts|[cm]?ts|tsx|map|md|markdown|bare|flow)$/i,
  // Only at the top of a package: further in, a folder may bear such a name and hold code, as yaml's doc/ does.
  /^\/(?:tests?|benchmarks?|examples?|docs|prebuilds|\.github)(?:\/|$)/,
]
/** What the code reads from beside itself, as in a checkout. */
const BESIDE_DIST = ['LICENSE', 'crds', 'config/samples', 'openapi.yaml']
const out = process.argv[2]
if (out === undefined) throw new Error('Usage: node scripts/image-tree.ts <folder>')
rmSync(out, { recursive: true, force: true })
cpSync(join(ROOT, 'dist'), join(out, 'dist'), {
  recursive: true,
  filter: (path) => !path.endsWith('/.built'),
})
const { name, version, type, license } = readJson('package.json') as Record<string, string>
writeFileSync(
  join(out, 'package.json'),
  `${JSON.stringify({ name, version, private: true, type, license }, null, 2)}\n`,
)
cpSync(join(ROOT, 'scripts/image-init.sh'), join(out, 'init.sh'))
// On the PATH of the image: for `kubectl exec`, and for the health checks of Docker.
mkdirSync(join(out, 'bin'))
writeFileSync(join(out, 'bin/punctual'), '#!/bin/sh\nexec node /app/dist/main.js "$@"\n', { mode: 0o755 })
cpSync(join(ROOT, 'scripts/image-ready.sh'), join(out, 'bin/punctual-ready'))
for (const path of BESIDE_DIST) cpSync(join(ROOT, path), join(out, path), { recursive: true })
const { packages } = readJson('package-lock.json') as { packages: Record<string, LockedPackage> }
for (const path of imagePackages(packages)) copyPackage(path)

function copyPackage(path: string): void {
  const from = join(ROOT, path)
  cpSync(from, join(out ?? '', path), {
    recursive: true,
    // A package inside a package is one of its own in the lock file.
    filter: (source) => {
      const inside = `/${relative(from, source)}`
      return !inside.startsWith('/node_modules') && !LEFT_OUT.some((pattern) => pattern.test(inside))
    },
  })
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}
