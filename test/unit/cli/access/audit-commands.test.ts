import { expect, test } from 'vitest'
import { AN_AUDIT_RECORD } from '../../../support/fake-audit-log.ts'
import { toWireAuditRecord } from '../../../../src/contract/responses/audit-wire.ts'
import { useApi } from '../cli-fixture.ts'

const api = useApi()

test('audit lists who changed what, by every filter', async () => {
  const records = [toWireAuditRecord(AN_AUDIT_RECORD)]
  api.answer = { status: 200, body: JSON.stringify({ records, next_cursor: null }) }
  const flags =
    '--actor bot --action edit --resource-kind queue --resource orders --after 2026-11-21T10:00:00Z --before 2026-11-22T00:00:00Z'
  const { out } = await api.run(['audit', ...flags.split(' ')])
  expect(api.received[0]?.url).toBe(
    '/api/audit?actor=bot&action=edit&resource_kind=queue&resource=orders&after=2026-11-21T10%3A00%3A00Z&before=2026-11-22T00%3A00%3A00Z',
  )
  expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'AT  ACTOR  VIA  ACTION  RESOURCE  OUTCOME  AFTER',
    '2026-09-21T14:13:20Z  token test  api  pause  queue orders (12)  done  is_active=false',
    '',
  ])
})
