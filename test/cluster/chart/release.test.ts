/** The steps of a release that need helm and no registry. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { helm, helmObstacle } from '../../support/cluster/chart.ts'

const ROOT = join(import.meta.dirname, '../../..')
const IMAGE = 'ghcr.io/acme/punctual'
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`
const folder = mkdtempSync(join(tmpdir(), 'punctual-release-'))

beforeEach(({ skip }) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
})

afterAll(() => rmSync(folder, { recursive: true }))

async function release(...given: readonly string[]): Promise<string> {
  return (await promisify(execFile)(join(ROOT, 'scripts/release.sh'), given)).stdout.trim()
}

const imagesIn = (text: string) => [
  ...new Set([...text.matchAll(/image: "?([^"\n]+)"?/g)].map(([, name = '']) => name)),
]

test('the chart of a release runs the signed image and nothing else of ours', async () => {
  const file = await release('chart', IMAGE, DIGEST, folder)
  const images = imagesIn(await helm(['template', 'punctual', file]))
  expect(images.filter((name) => !name.includes('redis'))).toEqual([`${IMAGE}@${DIGEST}`])
  expect(images).toHaveLength(2)
})

test('so do the manifests, beside a list of all images for a mirror', async () => {
  await release('manifests', IMAGE, DIGEST, folder)
  const images = imagesIn(readFileSync(join(folder, 'install.yaml'), 'utf8'))
  expect(images).toContain(`${IMAGE}@${DIGEST}`)
  expect(readFileSync(join(folder, 'images.txt'), 'utf8').trim().split('\n')).toEqual(images.toSorted())
  expect(readFileSync(join(folder, 'crds.yaml'), 'utf8')).toContain('name: httpqueues.punctual.dev')
})
