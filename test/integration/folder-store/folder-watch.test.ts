import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { NO_REFUSALS } from '../../../src/folder-store/folder-snapshot.ts'
import { openFolderStore } from '../../../src/folder-store/folder-store.ts'
import { FakeAuditLog } from '../../support/fake-audit-log.ts'
import { quietLogger } from '../../support/quiet.ts'
import { realClock } from '../redis-child/real-clock.ts'

it('a change is in force within two seconds, and stop ends all waiting', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-watch-'))
  const store = await openFolderStore({
    folder,
    team: 'default',
    statePath: null,
    auditLog: new FakeAuditLog(),
    logger: quietLogger,
    clock: realClock,
  })
  const told = Promise.withResolvers<number>()
  await store.start(async (change) => {
    if (change.queues.length > 0) told.resolve(performance.now())
    return NO_REFUSALS
  })
  const writtenAtMs = performance.now()
  writeFileSync(
    join(folder, 'a.yaml'),
    'apiVersion: punctual.dev/v1alpha1\nkind: HttpQueue\nmetadata: { name: a }\nspec: {}\n',
  )
  expect((await told.promise) - writtenAtMs).toBeLessThan(2000)
  await store.stop()
  await store.stop()
  rmSync(folder, { recursive: true, force: true })
})
