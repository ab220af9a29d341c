import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { NO_REFUSALS } from '../../../src/folder-store/folder-snapshot.ts'
import { openFolderStore } from '../../../src/folder-store/folder-store.ts'
import { FakeAuditLog } from '../../support/fake-audit-log.ts'
import { quietLogger } from '../../support/quiet.ts'
import { createHandClock } from '../folder-store/hand-clock.ts'

// As on a network folder: the system never tells of a change.
vi.mock('node:fs', async (original) => ({
  ...(await original<object>()),
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
    auditLog: new FakeAuditLog(),
    logger: quietLogger,
    clock,
  })
  let toldAtMs: number | null = null
  await store.start(async (change) => {
    if (change.queues.length > 0) toldAtMs = clock.monotonicMs()
    return NO_REFUSALS
  })
  const writtenAtMs = clock.monotonicMs()
  writeFileSync(
    join(folder, 'a.yaml'),
    'apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: { name: a }\nspec: {}\n',
  )
  while (toldAtMs === null && clock.monotonicMs() - writtenAtMs <= 5000) clock.advance(await clock.waiting())
  expect((toldAtMs ?? Infinity) - writtenAtMs).toBeLessThanOrEqual(1000)
  await store.stop()
  rmSync(folder, { recursive: true, force: true })
})
