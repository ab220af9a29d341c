import { expect, test } from 'vitest'
import { useApi } from '../cli-fixture.ts'

const api = useApi()
const CODE = { code: 'a'.repeat(43), expires_at: '2026-11-21T10:15:00.000+00:00' }

test('dashboard prints a link to the server it asked, and nothing else', async () => {
  api.answer = { status: 201, body: JSON.stringify(CODE) }
  const { out } = await api.run(['dashboard'])
  expect(api.received).toMatchObject([{ method: 'POST', url: '/api/session/code' }])
  expect(out).toMatch(new RegExp(`^http://[^/\\s]+/#code=${CODE.code}\\n$`))
})
