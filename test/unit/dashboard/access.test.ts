import { describe, expect, test } from 'vitest'
import type { Me } from '../../../clients/typescript/src/client.ts'
import { endsFor, newDraft, tokenOf } from '../../../dashboard/src/features/access/token-draft.ts'

const NOW_MS = Date.UTC(2026, 10, 23)
const ALL = { push: true, read: true, payloads: true, operate: true, purge: true, edit: true, admin: true }
const ADMIN: Me = {
  team: 'shop',
  subject: 'ann',
  kind: 'user',
  roles: ['admin'],
  scopes: [],
  queues: null,
  expires_at: null,
  may: ALL,
}

describe('a token to make', () => {
  test('has what was filled in, and nothing else', () => {
    const draft = { ...newDraft(ADMIN), name: ' ci ', ends: 'never' }
    expect(tokenOf(draft, ADMIN, NOW_MS)).toEqual({ name: 'ci', scopes: ['push'] })
    const full = {
      ...draft,
      description: 'CI',
      queues: 'emails\n\n a, b \r\n',
      ends: '365',
      rate: '50',
      burst: '200',
    }
    expect(tokenOf(full, ADMIN, NOW_MS)).toEqual({
      name: 'ci',
      description: 'CI',
      scopes: ['push'],
      queues: ['emails', 'a, b'],
      expires_at: '2027-11-22T23:59:00.000Z',
      rate_limit: { requests_per_second: 50, burst: 200 },
    })
    expect(tokenOf({ ...full, burst: '' }, ADMIN, NOW_MS).rate_limit).toEqual({ requests_per_second: 50 })
  })

  test('ends for those who have to give an end', () => {
    const ends = (me: Me) => endsFor(me).map(({ value }) => value)
    expect(ends(ADMIN)).toEqual(['30', '90', '365'])
    expect(ends({ ...ADMIN, kind: 'token' })).toContain('never')
    const limited: Me = {
      ...ADMIN,
      kind: 'token',
      queues: ['a', 'b'],
      expires_at: '2026-12-01T00:00:00.000+00:00',
    }
    expect(ends(limited)).not.toContain('never')
    expect(tokenOf({ ...newDraft(limited), name: 'x' }, limited, NOW_MS)).toMatchObject({
      queues: ['a', 'b'],
      expires_at: '2026-12-01T00:00:00.000+00:00',
    })
  })
})
