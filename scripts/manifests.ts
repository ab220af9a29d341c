/**
 * Renders config/ from the chart: a folder per part for kustomize, and all of it as install.yaml. `--check` writes
 * nothing and fails when something is stale. Helm must be on PATH (scripts/helm.sh).
 */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { plainManifests } from './plain-manifests.ts'

const ROOT = join(import.meta.dirname, '..')
const HELM_LIMITS = { timeout: 30_000, maxBuffer: 64 * 1024 * 1024 }

async function helm(given: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('helm', [...given], HELM_LIMITS)
  return stdout
}

async function main(): Promise<void> {
  const isCheck = process.argv.includes('--check')
  for (const [path, text] of await plainManifests(ROOT, helm)) {
    const current = await readFile(join(ROOT, path), 'utf8').catch(() => null)
    if (current === text) continue
    if (isCheck) {
      console.error(`${path} is stale: run \`make manifests\` and commit the result.`)
      process.exitCode = 1
      continue
    }
    await mkdir(dirname(join(ROOT, path)), { recursive: true })
    await writeFile(join(ROOT, path), text)
    console.log(`wrote ${path}`)
  }
}

await main()
