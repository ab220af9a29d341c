import { expect, test } from 'vitest'
import { createEventParser, type ServerEvent } from '../../../dashboard/src/api/event-parser.ts'

const STREAM =
  'retry: 3000\n\nevent: figures\ndata: {"pending":1}\n\n:\n\nevent: changed\r\ndata: a\r\ndata: b\r\n\r\ndata: c\n\nevent: cut'
const EVENTS = [
  { name: 'figures', data: '{"pending":1}' },
  { name: 'changed', data: 'a\nb' },
  { name: 'message', data: 'c' },
]

function eventsOf(pieces: readonly string[]): ServerEvent[] {
  const events: ServerEvent[] = []
  const parse = createEventParser((event) => events.push(event))
  for (const piece of pieces) parse(piece)
  return events
}

test('events are found wherever the stream is cut', () => {
  expect(eventsOf([STREAM])).toEqual(EVENTS)
  expect(eventsOf([...STREAM])).toEqual(EVENTS)
  for (let at = 0; at < STREAM.length; at += 1) {
    expect(eventsOf([STREAM.slice(0, at), STREAM.slice(at)])).toEqual(EVENTS)
  }
})

test('an event without an end is not kept for ever', () => {
  const parse = createEventParser(() => undefined)
  const events: ServerEvent[] = []
  const own = createEventParser((event) => events.push(event))
  for (let i = 0; i < 100; i += 1) own('x'.repeat(1_000))
  own('\n\ndata: y\n\n')
  expect(events).toEqual([{ name: 'message', data: 'y' }])
  expect(() => parse('')).not.toThrow()
})
