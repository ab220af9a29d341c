import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { openFolderStore } from '../../../src/folder-store/folder-store.ts'
import { quietLogger } from '../../support/quiet.ts'
import { createHandClock } from './hand-clock.ts'

// As on a network folder: the system never tells of a change.
vi.mock('node:fs', async (original) => ({
  ...(await original<typeof import('node:fs')>()),
  watch: () => {
    throw new Error('not here')
  },
}))

it('without a hint from the system the clock alone has a change in force within a second', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-poll-'))
  const clock = createHandClock()
  const store = await openFolderStore({
    folder,
    team: 'default',
    statePath: null,
    logger: quietLogger,
    clock,
  })
  let isTold = false
  await store.start(async (change) => {
    isTold = change.queues.length > 0
  })
  writeFileSync(
    join(folder, 'a.yaml'),
    'apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: { name: a }\nspec: {}\n',
  )
  let passedMs = 0
  while (!isTold && passedMs <= 5000) {
    const waitMs = await clock.waiting()
    passedMs += waitMs
    clock.advance(waitMs)
  }
  expect(passedMs).toBeLessThanOrEqual(1000)
  await store.stop()
  rmSync(folder, { recursive: true, force: true })
})
