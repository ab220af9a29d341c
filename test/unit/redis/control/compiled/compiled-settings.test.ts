import { expect, test } from 'vitest'
import type { RedisConnection } from '../../../../../src/redis/base/client/connection.ts'
import { TOKENS_KEY } from '../../../../../src/redis/base/layout/keys.ts'
import { CompiledSettings } from '../../../../../src/redis/control/compiled/compiled-settings.ts'
import { tokenField } from '../../../../../src/redis/control/compiled/stored-settings.ts'
import { createFakeClock } from '../../../../support/fake-clock.ts'
import { loopsOf } from '../../../../support/loops.ts'
import { quietLogger } from '../../../../support/quiet.ts'

/** Settings read from these tokens, and what was told of them. */
async function read(tokens: Record<string, string>) {
  const told: unknown[] = []
  const clock = createFakeClock()
  const compiled = new CompiledSettings({
    connection: {
      hget: async () => '1',
      hgetall: async (key: string) => (key === TOKENS_KEY ? tokens : {}),
    } as unknown as RedisConnection,
    box: null,
    clock,
    logger: { ...quietLogger, error: (_, fields) => void told.push(fields?.['token']) },
    metrics: { setAside: (kind) => void told.push(kind) },
    loops: loopsOf({ clock, logger: quietLogger }),
  })
  await compiled.refresh()
  return { compiled, told }
}

test.each([
  { what: 'a name', field: '["team-a', value: '7 hash', token: '["team-a' },
  {
    what: 'terms',
    field: tokenField({ team: 'team-a', name: 'odd' }),
    value: '7 hash {"scopes":[],"queues":5}',
    token: 'odd',
  },
])('a token with $what that cannot be read is set aside, and all others are accepted', async (odd) => {
  const sound = tokenField({ team: 'team-a', name: 'sound' })
  const { compiled, told } = await read({ [odd.field]: odd.value, [sound]: '8 other' })
  expect(compiled.tokensOf('team-a').map(({ subject }) => subject)).toEqual(['sound'])
  expect(told).toEqual(['settings', odd.token])
})
