import { expect, test } from 'vitest'
import { createKnownAnswers } from '../../../dashboard/src/session/known-answers.ts'

interface Asked {
  readonly target: string
  readonly method: string
  readonly knows: string | null
}

/** A server whose answer to every read is `shown`, until that is changed. */
function openServer() {
  const asked: Asked[] = []
  const server = { shown: 'first', tag: 'W/"first"' as string | null, status: 200, asked }
  const send: typeof fetch = async (target, init) => {
    const knows = new Headers(init?.headers).get('if-none-match')
    asked.push({
      target: target instanceof Request ? target.url : target.toString(),
      method: init?.method ?? 'GET',
      knows,
    })
    if (knows !== null && knows === server.tag) return new Response(null, { status: 304 })
    const headers = new Headers(server.tag === null ? [] : [['etag', server.tag]])
    return new Response(server.shown, { status: server.status, headers })
  }
  return { server, read: createKnownAnswers(send) }
}

test('what has not changed is asked for by its tag, and read as before', async () => {
  const { server, read } = openServer()
  expect(await (await read('/a')).text()).toBe('first')
  for (const _ of [1, 2]) {
    const again = await read('/a')
    expect(again.status).toBe(200)
    expect(await again.text()).toBe('first')
  }
  expect(server.asked.map(({ knows }) => knows)).toEqual([null, 'W/"first"', 'W/"first"'])
})

test('what has changed is read anew, and asked for by its new tag from then on', async () => {
  const { server, read } = openServer()
  await read('/a')
  Object.assign(server, { shown: 'second', tag: 'W/"second"' })
  expect(await (await read('/a')).text()).toBe('second')
  expect(await (await read('/a')).text()).toBe('second')
  expect(server.asked.at(-1)?.knows).toBe('W/"second"')
})

test('another address knows nothing, nor does a change', async () => {
  const { server, read } = openServer()
  await read('/a')
  await read('/b')
  await read('/a', { method: 'POST', body: '{}' })
  expect(server.asked.map(({ knows }) => knows)).toEqual([null, null, null])
})

test.each([
  ['the tag of settings, which is for edits', { tag: '"settings"' }],
  ['an answer without a tag', { tag: null }],
  ['an error', { status: 503 }],
  ['an answer that is too long to keep', { shown: 'x'.repeat(513 * 1024) }],
])('%s is not kept', async (_, change) => {
  const { server, read } = openServer()
  Object.assign(server, change)
  await read('/a')
  await read('/a')
  expect(server.asked.map(({ knows }) => knows)).toEqual([null, null])
})

test('an error between takes away what was known', async () => {
  const { server, read } = openServer()
  await read('/a')
  Object.assign(server, { tag: 'W/"other"', status: 503 })
  expect((await read('/a')).status).toBe(503)
  await read('/a')
  expect(server.asked.at(-1)?.knows).toBeNull()
})

test('only the newest thirty are kept', async () => {
  const { server, read } = openServer()
  for (let at = 0; at < 31; at += 1) await read(`/${at}`)
  server.asked.length = 0
  await read('/30')
  await read('/0')
  expect(server.asked.map(({ knows }) => knows)).toEqual(['W/"first"', null])
})
