import { expect, test } from 'vitest'
import { EgressGuard } from '../../../../src/outbound/egress/egress-guard.ts'
import { denyOwnRedis } from '../../../../src/roles/startup/own-redis.ts'
import { NO_QUOTAS } from '../../../../src/domain/quotas.ts'

test.each([
  ['/run/redis.sock', []],
  ['redis://127.0.0.1:6379', []],
  ['redis://localhost:6379', []],
  ['redis://[::1]:6379', []],
  ['redis://user:secret@10.1.2.3:6379/0', ['10.1.2.3/32']],
  ['rediss://[fd00::7]:6379', ['fd00::7/128']],
])('%s adds %j', async (url, entries) => {
  expect(await denyOwnRedis(url)).toEqual(entries)
})

test('a team that opens the network of our Redis still cannot call it', async () => {
  const guard = new EgressGuard({
    allow: [],
    deny: await denyOwnRedis('redis://10.1.2.3:6379'),
    allowable: null,
  })
  const team = {
    version: 1,
    egressAllow: ['10.0.0.0/8'],
    signingSecrets: [],
    quotas: NO_QUOTAS,
    channels: [],
    members: [],
  }
  expect(guard.refusalOf(new URL('http://10.1.2.3:6379/'), team)).toBe('blocked')
  expect(guard.refusalOf(new URL('http://10.1.2.4/'), team)).toBeNull()
})
