import { Agent, request } from 'undici'
import { afterAll, expect, inject, test } from 'vitest'

const { url, caPem, token } = inject('clusterAccess')
const dispatcher = new Agent({ connect: { ca: caPem } })

afterAll(() => dispatcher.close())

test.each([
  ['httpcrons', false],
  ['maintenancewindows', true],
  ['httpqueues', false],
])('a request for %s is answered with a warning: %s', async (plural, isWarned) => {
  const answer = await request(`${url}/apis/punctual.dev/v1alpha1/${plural}`, {
    dispatcher,
    headers: { authorization: `Bearer ${token}` },
  })
  await answer.body.dump()

  expect(answer.statusCode).toBe(200)
  const warning = String(answer.headers['warning'] ?? '')
  expect(warning.includes('this version does nothing with it')).toBe(isWarned)
})
