import { expect, test } from 'vitest'
import { applyOwnSecrets } from '../../../../src/controller/secrets/own-secrets.ts'
import { OWN_SECRETS_READ_MS, type OwnSecrets } from '../../../../src/ports/access/own-secrets.ts'
import type { SettingsCompiler } from '../../../../src/ports/settings.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

const SIGNING = [{ name: 'partner', key: 'signing' }]
const owner = { team: 'shop', kind: 'queue', name: 'mail' } as const

function setUp(mustBeReadFirst: boolean) {
  const clock = createFakeClock()
  const put: OwnSecrets[] = []
  const compiler = {
    putOwnSecrets: (_owner: unknown, secrets: OwnSecrets) => {
      put.push(secrets)
      return Promise.resolve({ status: 'applied', mustBeReadFirst })
    },
  }
  const parts = {
    clock,
    secrets: {
      read: () =>
        Promise.resolve({
          data: { signing: Buffer.from('a-signing-secret-of-enough-bytes') },
          type: 'punctual.dev/signing-secret',
          labels: {},
        }),
    },
    engine: {
      write: (run: (compiler: SettingsCompiler) => Promise<unknown>) =>
        run(compiler as unknown as SettingsCompiler),
    },
  } as unknown as Parameters<typeof applyOwnSecrets>[0]
  const apply = () => applyOwnSecrets(parts, owner, { signing: SIGNING, headers: [], url: null })
  return { clock, put, apply }
}

test('executors have time to read what settings may need before these are applied', async () => {
  const { clock, put, apply } = setUp(true)
  let isDone = false
  const applied = apply().then(() => (isDone = true))
  await clock.advance(OWN_SECRETS_READ_MS - 1)
  expect([put.length, isDone]).toEqual([1, false])
  await clock.advance(1)
  await applied
})

test('settings that need nothing new are applied at once', async () => {
  expect(await setUp(false).apply()).toBeNull()
})
