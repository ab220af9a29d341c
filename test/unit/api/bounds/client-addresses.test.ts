import { expect, test } from 'vitest'
import type { UserVerifier } from '../../../../src/ports/access/user-verifier.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { type ApiChange, BEARER, rawExchange, startApi } from '../api-fixture.ts'

const SPOOFED = 'X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 192.0.2.1'

/** The address that the audit log names for a change. */
async function audited(change: ApiChange, headers: string): Promise<unknown> {
  const auditLog = new FakeAuditLog()
  const api = await startApi({ auditLog, ...change })
  try {
    const head = [
      'POST /api/session HTTP/1.1',
      'Host: localhost',
      `Authorization: ${BEARER.authorization}`,
      'Content-Length: 0',
      'Connection: close',
    ]
    const answer = await rawExchange(api.port, `${[...head, headers].join('\r\n')}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 201 /)
    return auditLog.asked.map(({ actor }) => actor.address)
  } finally {
    await api.close()
  }
}

test('the audit log names the address that a trusted proxy saw', async () => {
  expect(await audited({ trustedProxies: ['127.0.0.0/8'] }, SPOOFED)).toEqual(['192.0.2.1'])
})

test('whoever vouches for a user is told the same address', async () => {
  const visits: unknown[] = []
  const users: UserVerifier = {
    mayKnow: () => true,
    admit: async (_token, visit) => {
      visits.push(visit)
      return { kind: 'unknown' }
    },
  }
  const api = await startApi({ users, trustedProxies: ['127.0.0.0/8'] })
  const head = 'GET /api/queues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer of-a-cluster'
  expect(await rawExchange(api.port, `${head}\r\n${SPOOFED}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 401 /)
  expect(visits).toEqual([{ team: null, address: '192.0.2.1' }])
  await api.close()
})

test('without the setting, or from somebody else, the header is not read', async () => {
  expect(await audited({}, SPOOFED)).toEqual(['127.0.0.1'])
  expect(await audited({ trustedProxies: ['10.0.0.0/8'] }, SPOOFED)).toEqual(['127.0.0.1'])
})
