import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { findPeers, PEER_NAMES } from '../../../bench/contenders/peers.ts'
import { sizesOf } from '../../../bench/sizes.ts'

const PEERS = join(import.meta.dirname, '../../../bench/peers')
const quiet = (): void => undefined

afterEach(() => void vi.unstubAllEnvs())

test('a peer whose tools are missing is left out, with the reason', async () => {
  vi.stubEnv('PATH', '')
  expect(await findPeers(['asynq', 'river'], quiet)).toEqual({
    peers: [],
    skipped: [
      'asynq: it is built with Go 1.26, and no Go is on PATH',
      'river: it is built with Go 1.26, and no Go is on PATH',
    ],
  })
})

test('a name that nobody has is refused, and names those there are', async () => {
  await expect(findPeers(['bull'], quiet)).rejects.toThrow(`PEERS knows ${PEER_NAMES.join(', ')}`)
})

test('a quick run needs no tools but Node and what packages bring', () => {
  const quick = sizesOf('quick').peers ?? PEER_NAMES
  expect(PEER_NAMES).toEqual(expect.arrayContaining([...quick]))
  for (const name of ['asynq', 'river', 'celery']) expect(quick).not.toContain(name)
})

test('every version of a peer is pinned', () => {
  const manifest = JSON.parse(readFileSync(join(PEERS, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  const requirements = readFileSync(join(PEERS, 'celery/requirements.txt'), 'utf8').trim().split('\n')
  for (const line of requirements) expect(line).toMatch(/^[\w.-]+==[\w.]+$/)
})
