import { describe, expect, test } from 'vitest'
import { columns, printable } from '../../../../src/cli/output/text-table.ts'
import { shortened, textWidth } from '../../../../src/cli/output/text-width.ts'
import { useApi } from '../cli-fixture.ts'

describe('a text takes as many columns as a terminal gives it', () => {
  test.each([
    ['', 0],
    ['plain', 5],
    ['Ünïcödé', 7],
    ['e\u0301te\u0301', 3],
    ['注文キュー', 10],
    ['한글', 4],
    ['ｱｲｳ', 3],
    ['ＡＢ', 4],
    ['🚀', 2],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['привет', 6],
    ['שלום', 4],
  ])('%s takes %i', (text, width) => expect(textWidth(text)).toBe(width))

  test.each([
    ['orders', 6, 'orders'],
    ['orders', 5, 'orde…'],
    ['注文キュー', 10, '注文キュー'],
    ['注文キュー', 9, '注文キュ…'],
    ['注文キュー', 8, '注文キ…'],
    ['e\u0301te\u0301', 2, 'e\u0301…'],
    ['👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
  ])('%s in %i is %s', (text, width, shown) => expect(shortened(text, width)).toBe(shown))
})

describe('a table', () => {
  const LONG = 'n'.repeat(255)
  const widthsOf = (text: string) => text.split('\n').map(textWidth)

  test('aligns wide letters', () => {
    expect(
      columns([
        ['NAME', 'DEAD'],
        ['注文', '1'],
        ['e\u0301', '22'],
      ]),
    ).toBe('NAME  DEAD\n注文  1\ne\u0301     22')
  })

  test('is as wide as its cells where there is no terminal', () => {
    expect(columns([['NAME'], [LONG]])).toBe(`NAME\n${LONG}`)
  })

  test('takes from the widest column what does not fit', () => {
    const text = columns(
      [
        ['JOB', 'QUEUE', 'STATUS', 'URL'],
        ['16', LONG, 'failed', 'https://e.com'],
      ],
      {
        max: 60,
        main: 3,
      },
    )
    expect(text).toBe(
      `JOB  QUEUE${' '.repeat(27)}  STATUS  URL\n16   ${'n'.repeat(31)}…  failed  https://e.com`,
    )
    expect(widthsOf(text)[1]).toBe(60)
  })

  test('takes from the main column last, and leaves every column something', () => {
    const rows = [
      ['QUEUE', 'NAME', 'URL'],
      ['16', LONG, LONG],
    ]
    expect(columns(rows, { max: 80, main: 1 }).split('\n')[1]).toBe(
      `16     ${'n'.repeat(58)}…  ${'n'.repeat(11)}…`,
    )
    expect(columns(rows, { max: 10, main: 1 }).split('\n')[1]).toBe(
      `16     ${'n'.repeat(11)}…  ${'n'.repeat(11)}…`,
    )
  })

  test('never shortens figures and times', () => {
    const row = ['1234567890123456', '2026-11-21T10:00:00Z', '1234567890 ms', LONG]
    expect(columns([['ID', 'AT', 'TOOK', 'NAME'], row], { max: 20 }).split('\n')[1]).toBe(
      `${row.slice(0, 3).join('  ')}  ${'n'.repeat(11)}…`,
    )
  })

  test('is a line for each item, whatever its cells hold', () => {
    expect(
      columns([
        ['A', 'B'],
        ['one\ntwo\tthree', '\u001b[2J\u202egpj'],
      ]),
    ).toBe('A                B\none\\ntwo\\tthree  \\x1b[2J\\u202egpj')
  })
})

test.each([
  ['a\u0007\u009bb', 'a\\x07\\x9bb'],
  ['invoice\u202efdp.exe', 'invoice\\u202efdp.exe'],
  ['\u2066a\u2069\u200f\u061c', '\\u2066a\\u2069\\u200f\\u061c'],
  ['a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
  ['a\u2028b', 'a\\u2028b'],
  ['a\ud800', 'a\\ud800'],
  ['👩‍👩‍👧 שלום\n', '👩‍👩‍👧 שלום\n'],
])('%j shows what would steer, reorder or hide', (text, shown) => expect(printable(text)).toBe(shown))

describe('a list', () => {
  const api = useApi()
  const name = '\u202e'.concat('注'.repeat(254))
  const queue = {
    queue_id: 7,
    name,
    counts: {},
    is_active: true,
    is_draining: false,
    throttled: null,
    startable: 0,
    stopped: null,
    oldest_startable_seconds: null,
    last_hour: { ended: 0, failed: 0 },
  }
  const settings = { max_parallelism: null, rate_limit: null, timeout_seconds: 30, retries_enabled: false }
  const shown = async (width: number | null, ...args: readonly string[]) => {
    api.answer = {
      status: 200,
      body: JSON.stringify({ queues: [{ ...queue, ...settings }], next_cursor: null }),
    }
    let out = ''
    await api.run(['queues', ...args], { stdout: { width, write: (text) => (out += text) } })
    return out.trimEnd().split('\n').map(textWidth)
  }

  test('keeps to the width of the terminal', async () => {
    expect(Math.max(...(await shown(100)))).toBeLessThanOrEqual(100)
    expect(Math.max(...(await shown(100)))).toBeGreaterThanOrEqual(99)
    expect(Math.max(...(await shown(null)))).toBeGreaterThan(500)
  })

  test('is whole with -o wide', async () => {
    expect(Math.max(...(await shown(100, '-o', 'wide')))).toBeGreaterThan(500)
  })
})
