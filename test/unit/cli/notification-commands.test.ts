import { expect, test } from 'vitest'
import { useApi } from './cli-fixture.ts'

const api = useApi()
const answered = (...results: readonly object[]) => {
  api.answer = { status: 200, body: JSON.stringify({ results }) }
}
const MAIL = { channel: 'mail', ok: true, answer: '250 OK', took_ms: 31 }
const OPS = { channel: 'ops', ok: false, answer: '404 \u001bno_service', took_ms: 182 }

test.each([
  ['notifications test', '{}'],
  ['notifications test ops', '{"channel":"ops"}'],
])('%s shows what each channel said, and fails when one has not taken it', async (args, body) => {
  answered(MAIL, OPS)
  const ran = await api.run(args.split(' '))
  expect(api.received[0]).toMatchObject({ method: 'POST', url: '/api/notifications/test', body })
  expect(ran.out).toBe(
    'CHANNEL  RESULT  TOOK    ANSWER\nmail     sent    31 ms   250 OK\nops      failed  182 ms  404 \\x1bno_service\n',
  )
  expect(ran.err).toBe('punctual: the test message was not taken by ops: the answers above say why\n')
  expect(ran.code).toBe(1)
})

test('one that all have taken ends well, as JSON as it was answered', async () => {
  answered(MAIL)
  const ran = await api.run(['notifications', 'test', '-o', 'json'])
  expect(ran.out).toBe(`${api.answer.body}\n`)
  expect(ran.code).toBe(0)
})
