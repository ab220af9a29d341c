import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ignoringBrokenPipe } from '../../../../src/cli/output/output-stream.ts'

/** A stream whose first `taken` writes succeed. */
function failingStream(code: string, taken: number) {
  const texts: string[] = []
  const stream = new Writable({
    // As those of the process are.
    autoDestroy: false,
    write(chunk: Buffer, _encoding, done) {
      if (texts.length < taken) texts.push(chunk.toString())
      else return done(Object.assign(new Error(`write ${code}`), { code }))
      done()
    },
  })
  return { stream, texts }
}

test('what is written after the reader has left is dropped', async () => {
  const { stream, texts } = failingStream('EPIPE', 1)
  const output = ignoringBrokenPipe(stream)
  for (const text of ['one', 'two', 'three']) {
    output.write(text)
    await turn()
  }
  expect(texts).toEqual(['one'])
  expect(stream.listenerCount('error')).toBe(1)
})

test('another fault stays one', () => {
  const { stream } = failingStream('ENOSPC', 1)
  ignoringBrokenPipe(stream).write('one')
  expect(() => stream.emit('error', Object.assign(new Error('full'), { code: 'ENOSPC' }))).toThrow('full')
})

test('until something is written the stream is left alone', () => {
  const { stream } = failingStream('EPIPE', 0)
  ignoringBrokenPipe(stream)
  expect(stream.listenerCount('error')).toBe(0)
})
