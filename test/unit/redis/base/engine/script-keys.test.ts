import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { withIncludes } from '../../../../../src/redis/base/engine/scripts.ts'
import { loadScripts, STEPS } from '../../../../../src/redis/steps.ts'
import { keyViolations } from '../../../../support/lua/lua-key-rules.ts'

const SCRIPTS = loadScripts()

describe.each(STEPS)('$name', ({ name, url, shape }) => {
  const text = withIncludes(readFileSync(url, 'utf8'))

  test('uses no key that is not in KEYS', () => {
    expect(keyViolations(SCRIPTS[name].source)).toEqual([])
  })

  test('is kept in a file that names it', () => {
    expect(text).toMatch(new RegExp(`^#!lua.*\n-- ${name}: `))
  })

  test('takes its keys and arguments from its description, all of them', () => {
    const names = [
      ...[...(shape.keys ?? []), ...(shape.queueKeys ?? [])].map((key) => `KEYS.${key}`),
      ...(shape.args ?? []).map((arg) => `ARGV.${arg}`),
      ...Object.values(shape.rows ?? {}).flatMap(({ keys = [], queueKeys = [], args = [] }) =>
        [...keys, ...queueKeys, ...args].map((field) => `.${field}`),
      ),
    ]
    expect(names.filter((one) => !new RegExp(`${one.replace('.', '\\.')}\\b`).test(text))).toEqual([])
    expect(text).not.toMatch(/\b(?:KEYS|ARGV)\[\d/)
  })
})

describe('a key is found that is', () => {
  const wrong = (text: string) => keyViolations(`#!lua\nlocal call = redis.call\n${text}`)

  test.each([
    ['written out', "call('GET', 'punctual:meta')"],
    ['built', "call('GET', KEYS[1] .. ':x')"],
    ['an argument', "call('GET', ARGV[1])"],
    ['read from Redis', "call('DEL', call('GET', KEYS[1]))"],
    ['called in full', "redis.call('GET', 'x')"],
    ['in a variable', "local key = 'm:' .. ARGV[1]\ncall('LLEN', key)"],
    ['in a variable that once was right', "local key = KEYS[1]\nkey = ARGV[1]\ncall('LLEN', key)"],
    ['one of two', "call('GET', ARGV[1] == '1' and KEYS[1] or 'x')"],
    ['a field', "local queue = { q = 'q:1' }\ncall('HGET', queue.q, 'n')"],
    ['a field set later', "local queue = { q = KEYS[1] }\nqueue.q = ARGV[1]\ncall('HGET', queue.q, 'n')"],
    ['an entry of a table', "local keys = {}\nkeys[1] = ARGV[1]\ncall('HGET', keys[1], 'n')"],
    ['one of an unpacked list', "local keys = { KEYS[1] }\nkeys[2] = ARGV[1]\ncall('DEL', unpack(keys))"],
    ['put into a table', "local keys = {}\ntable.insert(keys, ARGV[1])\ncall('HGET', keys[1], 'n')"],
    ['one of a list', "for _, key in ipairs({ KEYS[1], 'x' }) do call('DEL', key) end"],
    ['a later one', "call('UNLINK', KEYS[1], 'x')"],
    ['the second of two', "call('RENAME', KEYS[1], KEYS[1] .. ':old')"],
    ['given to a function', "local function drop(key) call('DEL', key) end\ndrop(KEYS[1])\ndrop(ARGV[1])"],
    ['what a function answers', "local function key() return 'x' end\ncall('DEL', key())"],
    ['behind another name', "local run = call\nrun('GET', 'x')"],
    ['behind a function handed on', "local function drop(key) call('DEL', key) end\nlocal f = drop\nf('x')"],
    [
      'given to a guarded function',
      "local function guarded(what, f, a) return pcall(f, a) end\nlocal function drop(key) call('DEL', key) end\nguarded('x', drop, ARGV[1])",
    ],
    [
      'behind a function that pcall is given',
      "local function drop(key) call('DEL', key) end\npcall(drop, ARGV[1])",
    ],
    ['in a protected command', "pcall(call, 'GET', ARGV[1])"],
    ['in an unprotected call', "redis.pcall('GET', 'x')"],
    ['in KEYS by force', "KEYS[9] = 'x'\ncall('GET', KEYS[9])"],
    ['with a command of a variable', "local get = 'GET'\ncall(get, KEYS[1])"],
    ['a name that is nothing', "call('GET', somewhere)"],
    ['taken by a foreign name', "local keys = _G\ncall('GET', KEYS[1])"],
  ])('%s', (_, text) => {
    expect(wrong(text)).not.toEqual([])
  })

  test.each([
    ['KEYS', "call('GET', KEYS[1 + ARGV[1]])"],
    ['a variable', "local key = ARGV[1] == '1' and KEYS[1] or KEYS[2]\ncall('GET', key)"],
    ['a table', "local keys = {}\nfor i = 1, 2 do keys[i] = KEYS[i] end\ncall('GET', keys[2])"],
    ['a function', "local function drop(key) call('DEL', key) end\ndrop(KEYS[1])"],
    [
      'a guarded function',
      "local function guarded(what, f, a) return pcall(f, a) end\nlocal function drop(key) call('DEL', key) end\nguarded('x', drop, KEYS[1])",
    ],
    ['nothing yet', "local key\nkey = KEYS[1]\nif key then call('GET', key) end"],
  ])('and is not in the way of %s', (_, text) => {
    expect(wrong(text)).toEqual([])
  })
})
