/** Compiles src/ and the client that it uses to dist/, and puts beside the code what it reads at run time. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const OUT = join(ROOT, 'dist')
const ENTRY = join(OUT, 'main.js')
/** Stands for `dist/src/main.js`, so that the program has one place whatever it is compiled with. */
const PROGRAM = "#!/usr/bin/env node\nimport './src/main.js'\n"
/** Files under src/ that are read, not imported. */
const READ_AT_RUN_TIME = ['src/**/*.lua', 'src/**/*.json', 'src/**/*.yaml', 'src/**/*.html']
/** Files at the root that a folder above the code must hold, in dist/ as in the checkout. */
const BESIDE_THE_CODE = ['openapi.yaml', 'crds/*.yaml', 'config/samples/*.yaml']

rmSync(OUT, { recursive: true, force: true })
compile()
copy(READ_AT_RUN_TIME)
copy(BESIDE_THE_CODE)
makeExecutable()

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

function makeExecutable(): void {
  writeFileSync(ENTRY, PROGRAM)
  chmodSync(ENTRY, 0o755)
}
