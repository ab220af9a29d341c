import { describe, expect, test } from 'vitest'
import { withNames } from '../../../../../src/redis/base/engine/scripts.ts'
import { step } from '../../../../../src/redis/base/engine/step.ts'
import { createShardKeys } from '../../../../../src/redis/base/layout/keys.ts'

const keys = createShardKeys(0)
const MOVE = step('move', import.meta.url, {
  keys: ['clock', 'bucket'],
  queueKeys: ['meta', 'ready'],
  args: ['leaseMs', 'localId'],
  rows: {
    blocks: { keys: ['block'] },
    queues: { queueKeys: ['meta', 'inFlight'], keys: ['own'], args: ['localId', 'limit'] },
  },
  rest: 'ids',
})
const values = {
  keys,
  bucket: 'b',
  leaseMs: 9,
  localId: '7',
  blocks: [{ block: 'x' }, { block: 'y' }],
  queues: [{ localId: '8', own: 'o', limit: 3 }],
  ids: ['i', 'j'],
}

describe('a call', () => {
  test('has keys and arguments in the described order, and a count before each group of rows', () => {
    const queue = keys.queue('8')
    expect(MOVE.with(values)).toEqual({
      name: 'move',
      keys: [
        keys.clock,
        'b',
        keys.queue('7').meta,
        keys.queue('7').ready,
        'x',
        'y',
        'o',
        queue.meta,
        queue.inFlight,
      ],
      args: [9, '7', 2, 1, '8', 3, 'i', 'j'],
    })
  })

  test('lacks nothing and has no other name', () => {
    // @ts-expect-error leaseMs is missing
    expect(MOVE.with({ ...values, leaseMs: undefined }).args[0]).toBeUndefined()
    // @ts-expect-error a row lacks its limit
    expect(MOVE.with({ ...values, queues: [{ localId: '8', own: 'o' }] }).args[5]).toBeUndefined()
    // @ts-expect-error the shard is missing
    expect(() => step('m', import.meta.url, { keys: ['ring'] }).with({})).toThrow(TypeError)
  })

  test('finds its Lua file beside the module that sends it', () => {
    expect(MOVE.url.href).toBe(new URL('./move.lua', import.meta.url).href)
  })
})

describe('the Lua of a step', () => {
  const HEAD = '#!lua\n-- move: moves.\n'
  const READS = 'local blocks = ROWS.blocks\nlocal queues = ROWS.queues\n'
  const named = (text: string) => withNames(HEAD + text, MOVE)

  test('has numbers and fields in place of names', () => {
    const text = named(`${READS}call('HGET', KEYS.ready, QUEUE.active, ARGV.localId, HELD.lastClaim)\n`)
    expect(text).toContain("call('HGET', KEYS[4], 'a', ARGV[2], '#c')")
  })

  test('keeps its lines', () => {
    const lines = named(`${READS}return next_arg()`).split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[1]).toMatch(/^local arg_at, key_at = 2, 4 local function next_arg\(\).*-- move: moves\.$/)
    expect(lines[4]).toBe('return next_arg()')
  })

  test.each([
    ['a key', 'KEYS.ring', 'move.lua: KEYS.ring is not in its description'],
    ['an argument', 'ARGV.leaseMS', 'move.lua: ARGV.leaseMS is not in its description'],
    ['a field', 'QUEUE.activ', 'move.lua: QUEUE.activ is not in its description'],
    ['rows', 'local queues = ROWS.queue', 'local queues = ROWS.queue comes out of order'],
  ])('may not misspell %s', (_, text, message) => {
    expect(() => named(`${READS}${text}\n`)).toThrow(message)
  })

  test('reads every group of rows, in order', () => {
    expect(() => named('local queues = ROWS.queues\n')).toThrow('comes out of order')
    expect(() => named('local blocks = ROWS.blocks\n')).toThrow('ROWS.queues is never read')
  })
})
