/** The release before this checkout, from the history of git; scripts/e2e.sh builds and loads its image. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { helm, RELEASE, type Place } from './release.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** A tag or a commit. */
const REVISION = readFileSync(join(import.meta.dirname, 'release-before'), 'utf8').trim()
const PARTS = ['charts/punctual', 'test/e2e/support/values.yaml']
/** As in scripts/e2e.sh. */
const IMAGE_TAG = 'e2e-before'

/** With its own chart and image, and the values that its scenarios had. */
export async function installReleaseBefore(place: Place): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-before-'))
  try {
    const archive = `git archive ${REVISION} ${PARTS.join(' ')} | tar --extract --directory ${folder}`
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', archive], { cwd: ROOT })
    const values = ['--values', join(folder, 'test/e2e/support/values.yaml')]
    const chart = [RELEASE, join(folder, 'charts/punctual'), ...values, '--set', `image.tag=${IMAGE_TAG}`]
    await helm(place, 'install', ...chart, '--wait')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
