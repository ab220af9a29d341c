import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { aChain, BEARER, ROOT_ID, type RunningApi, startApi } from '../api-fixture.ts'

const MANY = Array.from({ length: 20 }, () => ({ jobId: ROOT_ID, chain: aChain({ calls: [] }) }))
let shown = MANY
let api: RunningApi
beforeEach(async () => {
  shown = MANY
  const list = async () => ({ jobs: shown, nextCursor: null, searched: null })
  api = await startApi({ jobs: { list } as never })
})
afterEach(() => api.close())

const read = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`http://127.0.0.1:${api.port}${path}`, { headers: { ...BEARER, ...headers } })

describe('an answer over 1 KiB', () => {
  test.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, br', 'br'],
    ['br;q=0, *;q=0.5', 'gzip'],
    ['identity', null],
    ['gzip;q=0', null],
  ])('is compressed for a client that takes %s as %s', async (takes, encoding) => {
    const answer = await read('/api/jobs', { 'accept-encoding': takes })
    const plain = await read('/api/jobs', { 'accept-encoding': 'identity' })
    expect(answer.headers.get('content-encoding')).toBe(encoding)
    const text = await plain.text()
    expect(await answer.text()).toBe(text)
    const bytes = Number(answer.headers.get('content-length'))
    if (encoding === null) expect(bytes).toBe(Buffer.byteLength(text))
    else expect(bytes).toBeLessThan(Buffer.byteLength(text) / 4)
  })

  test('is whole for every client while others are compressed', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => read('/api/jobs', { 'accept-encoding': 'gzip' })),
    )
    const texts = new Set(await Promise.all(answers.map((answer) => answer.text())))
    expect(texts.size).toBe(1)
    expect(JSON.parse([...texts].join(''))).toMatchObject({ jobs: MANY.map(() => ({ job_id: ROOT_ID })) })
  })
})

test('a shorter answer is sent as it is', async () => {
  shown = []
  const answer = await read('/api/jobs', { 'accept-encoding': 'gzip, br' })
  expect(answer.headers.get('content-encoding')).toBeNull()
  expect(await answer.json()).toMatchObject({ jobs: [] })
})

describe('a list that a client has read before', () => {
  test.each(['identity', 'gzip'])('is a 304 without a body while it is the same (%s)', async (takes) => {
    const headers = { 'accept-encoding': takes }
    const tag = (await read('/api/jobs', headers)).headers.get('etag') ?? ''
    expect(tag).toMatch(/^W\/"[\w-]{16}"$/)
    const again = await read('/api/jobs', { ...headers, 'if-none-match': `"other", ${tag}` })
    expect(again.status).toBe(304)
    expect(again.headers.get('etag')).toBe(tag)
    expect(await again.text()).toBe('')
  })

  test('is sent whole once it has changed', async () => {
    const tag = (await read('/api/jobs')).headers.get('etag') ?? ''
    shown = MANY.slice(1)
    const again = await read('/api/jobs', { 'if-none-match': tag })
    expect(again.status).toBe(200)
    expect(again.headers.get('etag')).not.toBe(tag)
    expect(await again.json()).toMatchObject({ jobs: shown.map(() => ({ job_id: ROOT_ID })) })
  })
})
