import { expect, test } from 'vitest'
import { TRACE_STATE_CHARACTERS_MAX } from '../../../../src/domain/limits.ts'
import {
  isSampled,
  spanIdOf,
  traceContextOf,
  traceFields,
  traceIdOf,
} from '../../../../src/domain/net/trace-context.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const PARENT = `00-${TRACE}-${SPAN}-01`

test('a sound context is kept, and its parts are read', () => {
  const context = traceContextOf(PARENT, 'a=1, b@c/d=x y')
  expect(context).toEqual({ parent: PARENT, state: 'a=1, b@c/d=x y' })
  expect(context && [traceIdOf(context), spanIdOf(context), isSampled(context)]).toEqual([TRACE, SPAN, true])
  expect(traceFields(context)).toEqual({ trace_id: TRACE, span_id: SPAN })
})

test.each([
  ['00', false],
  ['01', true],
  ['02', false],
  ['03', true],
  ['fe', false],
])('the flags %s say whether it is recorded: %s', (flags, isRecorded) => {
  const context = traceContextOf(`00-${TRACE}-${SPAN}-${flags}`, undefined)
  expect(context !== null && isSampled(context)).toBe(isRecorded)
  expect(traceFields(context)).toEqual(isRecorded ? { trace_id: TRACE, span_id: SPAN } : {})
})

test('a later version is read as far as this one goes', () => {
  expect(traceContextOf(`cc-${TRACE}-${SPAN}-01-what-else`, undefined)).toEqual({ parent: PARENT })
  expect(traceContextOf(`cc-${TRACE}-${SPAN}-01`, undefined)).toEqual({ parent: PARENT })
  expect(traceContextOf(`cc-${TRACE}-${SPAN}-01.what`, undefined)).toBeNull()
})

test.each([
  undefined,
  null,
  7,
  [PARENT],
  '',
  ` ${PARENT}`,
  `${PARENT}\n`,
  `${PARENT}-more`,
  `${PARENT}, ${PARENT}`,
  PARENT.toUpperCase(),
  `ff-${TRACE}-${SPAN}-01`,
  `0-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.slice(1)}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-1`,
  `00-${TRACE}-${SPAN}-0g`,
])('%j is no context', (parent) => {
  expect(traceContextOf(parent, 'a=1')).toBeNull()
})

test.each([
  undefined,
  '',
  'a',
  'A=1',
  '=1',
  'a=',
  'a=1\r\nX-Injected: yes',
  'a=ü',
  `a=${'x'.repeat(257)}`,
  Array.from({ length: 129 }, (_, i) => `k${i}=1`).join(','),
  ['a=1'],
])('the state %j is left out, and the context kept', (state) => {
  expect(traceContextOf(PARENT, state)).toEqual({ parent: PARENT })
})

test('a state is as long as the bound at most', () => {
  const stateOf = (length: number) => `a=${'x'.repeat(200)},b=${'x'.repeat(200)},c=`.padEnd(length, 'y')
  const longest = stateOf(TRACE_STATE_CHARACTERS_MAX)
  expect(traceContextOf(PARENT, longest)).toEqual({ parent: PARENT, state: longest })
  expect(traceContextOf(PARENT, `${longest}y`)).toEqual({ parent: PARENT })
})

test('a hostile state is judged in no time', () => {
  const begun = performance.now()
  traceContextOf(PARENT, `${'a=1,'.repeat(127)}\n`)
  traceContextOf(PARENT, `${', '.repeat(255)}\n`)
  traceContextOf(PARENT, `a=1${' ,'.repeat(250)}!`)
  expect(performance.now() - begun).toBeLessThan(1_000)
})
