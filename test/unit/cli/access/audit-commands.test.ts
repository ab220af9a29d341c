import { expect, test } from 'vitest'
import { OPENAPI_DOCUMENT } from '../../../../src/contract/generated/openapi-document.ts'
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

test('audit counts what one record tells of', async () => {
  const one = toWireAuditRecord(AN_AUDIT_RECORD)
  const resource = { kind: 'job', id: 64, name: 'orders' } as const
  const records = [
    { ...one, count: 3 },
    { ...one, count: 500, action: 'delete', resource, ids: [64, 128] },
  ]
  api.answer = { status: 200, body: JSON.stringify({ records, next_cursor: null }) }
  const { out } = await api.run(['audit'])
  expect(out).toContain('  queue orders (12) ×3  ')
  expect(out).toContain('  500 jobs orders  ')
})

test('audit takes every kind that the API has', async () => {
  api.answer = { status: 200, body: '{"records":[],"next_cursor":null}' }
  const { components } = JSON.parse(OPENAPI_DOCUMENT) as {
    components: { schemas: { AuditedKind: { enum: readonly string[] } } }
  }
  const kinds = components.schemas.AuditedKind.enum
  expect(kinds).toContain('channel')
  for (const kind of kinds) expect((await api.run(['audit', '--resource-kind', kind])).code).toBe(0)
  expect(api.received.map(({ url }) => url)).toEqual(kinds.map((kind) => `/api/audit?resource_kind=${kind}`))
  expect(await api.run(['audit', '--resource-kind', 'pod'])).toMatchObject({ code: 1, out: '' })
})

test('what a creation sets is whole, but on a terminal that is narrower', async () => {
  const record = { ...toWireAuditRecord(AN_AUDIT_RECORD), after: { url: `https://e.com/${'x'.repeat(99)}` } }
  api.answer = { status: 200, body: JSON.stringify({ records: [record], next_cursor: null }) }
  let screen = ''
  await api.run(['audit'], { stdout: { width: 130, write: (text) => (screen += text) } })
  expect(screen).toMatch(/ {2}url="https:\/\/e\.com\/x+…\n/)
  expect(screen.split('\n').map(({ length }) => length)).toEqual([80, 130, 0])
  expect((await api.run(['audit'])).out).toContain(`${'x'.repeat(99)}"\n`)
  expect((await api.run(['audit', '-o', 'wide'])).out).toContain(`${'x'.repeat(99)}"\n`)
})
