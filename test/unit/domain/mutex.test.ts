import { describe, expect, test } from 'vitest'
import { createMutex } from '../../../src/domain/mutex.ts'

describe('a mutex', () => {
  test('runs one piece of work at a time, in the order of the calls', async () => {
    const mutex = createMutex()
    const events: string[] = []
    const first = Promise.withResolvers<void>()
    const ended = [
      mutex(async () => {
        events.push('first begins')
        await first.promise
        events.push('first ends')
      }),
      mutex(async () => void events.push('second')),
      mutex(async () => void events.push('third')),
    ]
    await Promise.resolve()
    expect(events).toEqual(['first begins'])
    first.resolve()
    await Promise.all(ended)
    expect(events).toEqual(['first begins', 'first ends', 'second', 'third'])
  })

  test('answers what the work answers', async () => {
    expect(await createMutex()(async () => 7)).toBe(7)
  })

  test('goes on after work that failed', async () => {
    const mutex = createMutex()
    const failed = mutex(() => Promise.reject(new Error('no')))
    const next = mutex(async () => 'yes')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('yes')
  })

  test('fails those who wait with an error that concerns them too, and nobody who comes later', async () => {
    const mutex = createMutex((error) => error instanceof TypeError)
    let runs = 0
    const work = async (): Promise<void> => void (runs += 1)
    const failed = mutex(() => Promise.reject(new TypeError('away')))
    const waiters = [mutex(work), mutex(work)]
    for (const each of [failed, ...waiters]) await expect(each).rejects.toThrow('away')
    expect(runs).toBe(0)
    await mutex(work)
    expect(runs).toBe(1)
  })

  test('runs those who wait after any other error', async () => {
    const mutex = createMutex((error) => error instanceof TypeError)
    const failed = mutex(() => Promise.reject(new RangeError('mine')))
    const next = mutex(async () => 'yes')
    await expect(failed).rejects.toThrow('mine')
    expect(await next).toBe('yes')
  })
})
