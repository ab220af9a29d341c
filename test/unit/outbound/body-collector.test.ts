import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBodyCollector } from '../../../src/outbound/body-collector.ts'

test('the first bytes are kept and all are counted, however they come', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), fc.nat(200), (chunks, keptMax) => {
      const collector = createBodyCollector(keptMax)
      for (const chunk of chunks) collector.add(chunk)
      const all = Buffer.concat(chunks)
      expect(collector.received()).toBe(all.length)
      expect(Buffer.from(collector.body())).toEqual(all.subarray(0, keptMax))
    }),
  )
})
