import { afterEach, expect, test } from 'vitest'
import type { Principal } from '../../../../src/domain/access/principal.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { BEARER, call, type RunningApi, startApi } from '../api-fixture.ts'

let api: RunningApi | null = null
let release: () => void = () => undefined
afterEach(async () => {
  release()
  await api?.close()
})

async function start() {
  let principal: Principal = aPrincipal('default')
  const { promise, resolve } = Promise.withResolvers<void>()
  release = resolve
  let editing = 0
  api = await startApi({
    tokens: { principalOf: () => principal },
    editor: {
      create: async () => 'exists' as const,
      edit: async (team) => {
        editing += 1
        if (team === 'default') await promise
        return null
      },
      remove: async () => 'not_found',
    },
  })
  const { port } = api
  const headers = { ...BEARER, 'content-type': 'application/json' }
  return {
    become: (next: Principal) => (principal = next),
    editing: () => editing,
    patch: () => call(port, '/api/queues/7', { method: 'PATCH', headers, body: '{"is_active":true}' }),
    read: () => call(port, '/api/queues', { headers: BEARER }),
  }
}

test('a team whose changes hang keeps no change of another team waiting, nor its own reads', async () => {
  const { become, editing, patch, read } = await start()
  const hanging = Array.from({ length: 100 }, () => patch())
  await expect.poll(editing).toBeGreaterThan(20)
  expect(editing()).toBeLessThan(32)
  expect((await read()).status).toBe(200)
  become(aPrincipal('other'))
  expect((await patch()).status).toBe(404)
  become(aPrincipal('default'))
  release()
  expect(new Set((await Promise.all(hanging)).map(({ status }) => status))).toEqual(new Set([404]))
})

test('beyond what may wait the answer is a 429', async () => {
  const { patch } = await start()
  const all = Array.from({ length: 300 }, () => patch())
  const { status, headers } = await Promise.any(
    all.map(async (one) => {
      const answer = await one
      if (answer.status !== 429) throw new Error('not refused')
      return answer
    }),
  )
  expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true])
  release()
  await Promise.all(all)
})
