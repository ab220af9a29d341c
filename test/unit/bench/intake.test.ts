import { describe, expect, test, vi } from 'vitest'
import { gathered } from '../../../bench/peers/node/intake.ts'
import { dueAt, type Push } from '../../../bench/peers/node/push.ts'

const push = (url: string): Push => ({ queue: 'bench', url, payload: {} })

describe('pushes that are gathered', () => {
  test('of one turn go in together, those that come meanwhile by the next batch, and each has its own id', async () => {
    const batches: string[][] = []
    const { promise: isHeld, resolve: letGo } = Promise.withResolvers<void>()
    const add = gathered(async (pushes) => {
      batches.push(pushes.map(({ url }) => url))
      await isHeld
      return pushes.map(({ url }) => `id of ${url}`)
    })

    const first = [add(push('a')), add(push('b'))]
    await vi.waitFor(() => expect(batches).toHaveLength(1))
    const second = [add(push('c')), add(push('d'))]
    letGo()

    expect(await Promise.all([...first, ...second])).toEqual(['id of a', 'id of b', 'id of c', 'id of d'])
    expect(batches).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
  })

  test('fail together, and the next batch is tried again', async () => {
    let isDown = true
    const add = gathered((pushes) =>
      isDown ? Promise.reject(new Error('down')) : Promise.resolve(pushes.map(() => '1')),
    )
    expect((await Promise.allSettled([add(push('a')), add(push('b'))])).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ])
    isDown = false
    await expect(add(push('c'))).resolves.toBe('1')
  })
})

test('a push is due at once, in seconds or at a time', () => {
  vi.useFakeTimers({ now: 1_000 })
  expect(dueAt(push('a'))).toBeNull()
  expect(dueAt({ ...push('a'), delay: 2 })?.getTime()).toBe(3_000)
  expect(dueAt({ ...push('a'), run_at: '2026-11-21T07:12:29.184Z' })?.getTime()).toBe(1_795_245_149_184)
  vi.useRealTimers()
})
