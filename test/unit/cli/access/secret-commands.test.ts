import { expect, test } from 'vitest'
import { useApi } from '../cli-fixture.ts'

const api = useApi()

const shown = (id: string, isNewest: boolean) => ({
  id: `${id}:secret`,
  is_newest: isNewest,
  secret_ref: { name: id, key: 'secret' },
  created_at: isNewest ? '2026-11-21T10:05:00.000+00:00' : null,
})

test('secrets lists which one is the newest', async () => {
  const body = { signing_secrets: [shown('new', true), shown('old', false)], next_cursor: null }
  api.answer = { status: 200, body: JSON.stringify(body) }
  const { out } = await api.run(['secrets'])
  expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  ').trimEnd())).toEqual([
    'SIGNING SECRET  NEWEST  CREATED',
    'new:secret  yes  2026-11-21T10:05:00Z',
    'old:secret  no  -',
    '',
  ])
})

test('secrets create shows the value on a line of its own', async () => {
  const value = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
  api.answer = { status: 201, body: JSON.stringify({ ...shown('new', true), secret: value }) }
  const { out } = await api.run(['secrets', 'create'])
  expect(api.received[0]).toMatchObject({ method: 'POST', url: '/api/signing-secrets' })
  expect(out.split('\n').at(-2)).toBe(value)
})

test('secrets delete names what it did', async () => {
  api.answer = { status: 204, body: '' }
  const { out } = await api.run(['secrets', 'delete', '--yes', 'old:secret'])
  expect(decodeURIComponent(api.received[0]?.url ?? '')).toBe('/api/signing-secrets/old:secret')
  expect(out).toBe('signing secret old:secret deleted\n')
})
