import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyCollector } from '../../../../src/outbound/exchange/body-collector.ts'

test('the first bytes are kept and all are counted, however they come', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), fc.nat(200), (chunks, keptMax) => {
      const collector = new BodyCollector(keptMax)
      for (const chunk of chunks) collector.add(chunk)
      const all = Buffer.concat(chunks)
      expect(collector.received).toBe(all.length)
      expect(Buffer.from(collector.body)).toEqual(all.subarray(0, keptMax))
    }),
  )
})

test('no more memory is kept alive than is kept', () => {
  const collector = new BodyCollector(16_384)
  collector.add(Buffer.from(new ArrayBuffer(65_536), 100, 10))
  expect(collector.body.buffer.byteLength).toBeLessThanOrEqual(16_384)
  for (let sent = 0; sent < 10; sent += 1) collector.add(new Uint8Array(65_536))
  expect(collector.body.buffer.byteLength).toBe(16_384)
})
