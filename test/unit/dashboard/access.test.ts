import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { Me } from '../../../clients/typescript/src/client.ts'
import { roleCommand } from '../../../dashboard/src/features/access/role-command.ts'
import { endsFor, newDraft, tokenOf } from '../../../dashboard/src/features/access/token-draft.ts'

const NOW_MS = Date.UTC(2026, 10, 23)
const ALL = { push: true, read: true, payloads: true, operate: true, purge: true, edit: true, admin: true }
const ADMIN: Me = {
  ...{ team: 'shop', subject: 'ann', kind: 'user', roles: ['admin'], scopes: [] },
  ...{ queues: null, expires_at: null, may: ALL },
}

describe('a token to make', () => {
  test('has what was filled in, and nothing else', () => {
    const draft = { ...newDraft(ADMIN), name: ' ci ', ends: 'never' }
    expect(tokenOf(draft, ADMIN, NOW_MS)).toEqual({ name: 'ci', scopes: ['push'] })
    const full = {
      ...draft,
      ...{ description: 'CI', queues: 'emails\n\n a, b \r\n', ends: '365', rate: '50', burst: '200' },
    }
    expect(tokenOf(full, ADMIN, NOW_MS)).toEqual({
      ...{ name: 'ci', description: 'CI', scopes: ['push'], queues: ['emails', 'a, b'] },
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
      ...{ ...ADMIN, kind: 'token', queues: ['a', 'b'] },
      expires_at: '2026-12-01T00:00:00.000+00:00',
    }
    expect(ends(limited)).not.toContain('never')
    expect(tokenOf({ ...newDraft(limited), name: 'x' }, limited, NOW_MS)).toMatchObject({
      queues: ['a', 'b'],
      expires_at: '2026-12-01T00:00:00.000+00:00',
    })
  })
})

describe('the command that gives a role', () => {
  const argumentsOf = (command: string): string[] =>
    execFileSync('/bin/sh', ['-c', command.replace('kubectl', "printf '%s\\n'")])
      .toString()
      .trim()
      .split('\n')

  test('names the role, the team and the person', () => {
    const command = roleCommand({
      team: 'shop',
      role: 'editor',
      subject: 'user',
      name: "o'neil x@example.com",
    })
    expect(argumentsOf(command)).toEqual([
      ...['-n', 'shop', 'create', 'rolebinding', 'punctual-editor-o-neil-x-example-com'],
      ...['--clusterrole=punctual-punctual-editor', "--user=o'neil x@example.com"],
    ])
  })

  test('names service accounts with their namespace', () => {
    const of = (name: string) =>
      argumentsOf(roleCommand({ team: 'shop', role: 'viewer', subject: 'serviceaccount', name })).at(-1)
    expect(of('reporter')).toBe('--serviceaccount=shop:reporter')
    expect(of('ci:reporter')).toBe('--serviceaccount=ci:reporter')
    expect(of('')).toBe('--serviceaccount=shop:reporter')
  })
})
