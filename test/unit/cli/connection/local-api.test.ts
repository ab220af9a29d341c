import { describe, expect, test } from 'vitest'
import { findApi, type LocalFolder } from '../../../../src/cli/connection/local-api.ts'
import { useApi } from '../cli-fixture.ts'

const FALLBACK = 'http://127.0.0.1:8080'
const RUNNING = { url: 'http://127.0.0.1:9123', token: 'pk_of_the_folder' }

function find(
  given: { readonly server: string | null; readonly token: string | null },
  running: LocalFolder['running'] = RUNNING,
) {
  return findApi(given, FALLBACK, async () => ({ path: '.punctual', running }))
}

describe('a verb without an address and a token', () => {
  test('takes those of the standalone that runs in the data folder', async () => {
    expect(await find({ server: null, token: null })).toMatchObject({
      server: RUNNING.url,
      token: RUNNING.token,
    })
  })

  test('takes the address alone where a token is given', async () => {
    expect(await find({ server: null, token: 'mine' })).toMatchObject({ server: RUNNING.url, token: 'mine' })
  })

  test('goes to the usual port where none runs, and says where it looked for a token', async () => {
    expect(await find({ server: null, token: null }, null)).toEqual({
      server: FALLBACK,
      token: null,
      tokenHint: 'no standalone runs in .punctual, PUNCTUAL_DATA_DIR',
    })
  })

  test('says that the folder has no token', async () => {
    const found = await find({ server: null, token: null }, { url: RUNNING.url, token: null })
    expect(found).toMatchObject({ token: null, tokenHint: '.punctual holds none that can be read' })
  })
})

describe('the token of the folder', () => {
  test.each(['http://localhost:9123', 'http://127.0.0.1:9123/', 'http://[::1]:9123'])(
    'is sent to its own address (%s)',
    async (server) => {
      expect(await find({ server, token: null })).toMatchObject({ server, token: RUNNING.token })
    },
  )

  test.each([
    'http://127.0.0.1:9124',
    'https://127.0.0.1:9123',
    'http://punctual.example.com:9123',
    'http://127.0.0.1.example.com:9123',
    'none',
  ])('is sent to no other (%s)', async (server) => {
    expect(await find({ server, token: null })).toEqual({
      server,
      token: null,
      tokenHint: 'the one in .punctual is for http://127.0.0.1:9123 alone',
    })
  })

  test('is not looked for where both are given', async () => {
    const unread = () => Promise.reject(new Error('read'))
    expect(await findApi({ server: 'http://a', token: 'mine' }, FALLBACK, unread)).toMatchObject({
      token: 'mine',
    })
  })
})

const api = useApi()

test('a command is sent to the standalone of the folder with its token', async () => {
  api.answer = { status: 200, body: '{"jobs":[],"next_cursor":null}' }
  const local = { url: api.address, token: 'pk_of_the_folder' }
  const ran = await api.run(['jobs'], { serverGiven: null, tokenDefault: null, local })
  expect(ran.code).toBe(0)
  expect(api.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer pk_of_the_folder'])
})
