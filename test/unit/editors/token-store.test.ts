import { expect, it } from 'vitest'
import type { ApiToken } from '../../../src/controller/kinds.ts'
import { TOKENS_PER_TEAM_MAX } from '../../../src/domain/limits.ts'
import { createTokenStore } from '../../../src/editors/token-store.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { anApiToken } from '../../support/principals.ts'
import { createMemoryKind } from '../controller/memory-kind.ts'

function setUp(...names: string[]) {
  const kind = createMemoryKind<ApiToken>({ kind: 'ApiToken', indexes: {} })
  for (const name of names) kind.put(`shop/${name}`, { sha256: 'ab' })
  const store = createTokenStore({
    store: kind.writer,
    isAccepted: (team, name) => kind.get(`${team}/${name}`) !== undefined,
    isWatched: (team) => team === 'shop',
    cursors: {
      format: (team, position) => `${team} ${position}`,
      parse: (team, cursor) => (cursor.startsWith(`${team} `) ? cursor.slice(team.length + 1) : null),
    },
    clock: createFakeClock(),
  })
  return { kind, store }
}

const token = (name: string, team = 'shop') => anApiToken(name, { team })

it('tokens are listed page by page, each once, in the order of their names', async () => {
  const { store } = setUp('c', 'a', 'b')
  const first = await store.list({ team: 'shop', limit: 2, cursor: null })
  expect(first).toMatchObject({ tokens: [{ name: 'a' }, { name: 'b' }], nextCursor: 'shop b' })
  const rest = await store.list({ team: 'shop', limit: 2, cursor: 'shop b' })
  expect(rest).toMatchObject({ tokens: [{ name: 'c' }], nextCursor: null })
  expect(await store.list({ team: 'shop', limit: 3, cursor: null })).toMatchObject({ nextCursor: null })
  expect(await store.list({ team: 'shop', limit: 2, cursor: 'other b' })).toBe('bad_cursor')
  expect(await store.get('shop', 'b')).toMatchObject({ name: 'b' })
  expect(await store.get('shop', 'd')).toBeNull()
})

it('a token is made under a free name, and one more than a team may have is refused', async () => {
  const { kind, store } = setUp(...Array.from({ length: TOKENS_PER_TEAM_MAX - 1 }, (_, i) => `t${i}`))
  await expect(store.create(token('t0'))).rejects.toThrow('There is a token called t0 already.')
  await store.create(token('last'))
  await expect(store.create(token('more'))).rejects.toThrow('the most allowed here')
  await expect(store.create(token('ci', 'office'))).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
  expect(kind.writes).toEqual(['create shop/last'])
})

it('a token that is removed is gone, and one that is not there is not found', async () => {
  const { kind, store } = setUp('ci')
  expect(await store.remove('shop', 'cd')).toBe('not_found')
  expect(await store.remove('shop', 'ci')).toBe('removed')
  expect(kind.writes).toEqual(['remove shop/ci'])
})
