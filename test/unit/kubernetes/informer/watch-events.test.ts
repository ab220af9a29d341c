import { describe, expect, test } from 'vitest'
import { WATCH_EVENT_BYTES_MAX, watchEventsOf } from '../../../../src/kubernetes/informer/watch-events.ts'

const added = (name: string) =>
  JSON.stringify({ type: 'ADDED', object: { metadata: { name, resourceVersion: '1' } } })

async function eventsOf(...chunks: readonly string[]): Promise<string[]> {
  const events: string[] = []
  for await (const event of watchEventsOf(bodyOf(chunks))) events.push(JSON.stringify(event))
  return events
}

async function* bodyOf(chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

test('events come whole however the bytes are cut', async () => {
  const [one, two, three] = [added('one'), added('two'), added('three')]
  const text = `${one}\n${two}\n${three}\n`
  expect(await eventsOf(text)).toEqual([one, two, three])
  for (let cut = 1; cut < text.length; cut += 1) {
    expect(await eventsOf(text.slice(0, cut), text.slice(cut))).toEqual([one, two, three])
  }
})

test('an event torn by the end of the body is dropped, empty lines are passed over', async () => {
  expect(await eventsOf('\n', `${added('one')}\n\r\n`, added('two'))).toEqual([added('one')])
})

test('an event without an end is a fault; events that are long together are none', async () => {
  const piece = 'x'.repeat(WATCH_EVENT_BYTES_MAX / 4)
  await expect(eventsOf(piece, piece, piece, piece, 'x')).rejects.toThrow('more than 16777216 bytes')
  const long = added(piece)
  const halves = [long.slice(0, 100), `${long.slice(100)}\n`]
  expect(await eventsOf(...halves, ...halves, ...halves, ...halves, ...halves)).toHaveLength(5)
})

describe('a line that is no event is a fault and is not quoted', () => {
  test.each([
    ['no JSON', 'secret'],
    ['no object', '7'],
    ['null', 'null'],
    ['no type', '{"object":{}}'],
    ['a type that is none', '{"type":"MOVED","object":{"metadata":{"resourceVersion":"1"}}}'],
    ['no object inside', '{"type":"ADDED","object":null}'],
    ['no version', '{"type":"ADDED","object":{"metadata":{"name":"secret"}}}'],
    ['a bookmark without a version', '{"type":"BOOKMARK","object":{}}'],
  ])('%s', async (_what, line) => {
    const error = await eventsOf(`${line}\n`).catch((thrown: unknown) => thrown)
    expect(String(error)).toBe('ResourceApiError: Kubernetes API: a watch sent a line that is no event')
  })
})
