import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { NO_REFUSALS } from '../../../src/folder-store/folder-snapshot.ts'
import { openFolderStore } from '../../../src/folder-store/folder-store.ts'
import { FakeAuditLog } from '../../support/fake-audit-log.ts'
import { quietLogger } from '../../support/quiet.ts'
import { until } from '../../support/until.ts'
import { createHandClock } from './hand-clock.ts'

/** Looks that nobody has asked for are half a second apart. */
const SOON_MS = 100

it('the system tells of a change, which is in force within a second, and stop ends all waiting', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-watch-'))
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
  await until('the next look is sooner than a poll', async () => (await clock.waiting()) <= SOON_MS)
  while (toldAtMs === null && clock.monotonicMs() - writtenAtMs <= 5000) clock.advance(await clock.waiting())
  expect((toldAtMs ?? Infinity) - writtenAtMs).toBeLessThanOrEqual(1000)
  await store.stop()
  await store.stop()
  rmSync(folder, { recursive: true, force: true })
})
