import { describe, expect, test } from 'vitest'
import { readJsonBody, scanBody } from '../../../../src/contract/fields/json-body.ts'
import { atOnce } from '../../../../src/domain/shares/cost-gate.ts'

const KNOWN = new Set(['name', 'count'])

/** As a small body is read, and as a large one. */
function read(bytes: Buffer) {
  const of = (body: Parameters<typeof readJsonBody>[0]) =>
    readJsonBody(body, KNOWN, (fields) => [fields.requiredText('name', 10), fields.integer('count', 1, 5)])
  return [of(bytes), of(atOnce(scanBody(bytes)))] as const
}

const unknown = (count: number) => Array.from({ length: count }, (_, i) => `"u${i}":1`).join()
const LINES = '\n'.repeat(20_000)

describe('a large body is read as a small one', () => {
  test.each([
    ['good', '{"name":"a","count":3}'],
    ['with wrong fields', '{"name":"0123456789x","count":9}'],
    ['without fields', ' {} '],
    ['with unknown fields', `{${unknown(20)},"name":"a"}`],
    ['with unknown fields and a wrong one', `{${unknown(20)},"name":1}`],
    ['with more unknown fields than are named', `{${unknown(21)},"name":1}`],
    ['with thousands of unknown fields', `{${unknown(5_000)}}`],
    ['with repeated fields', `{${Array(90).fill('"name":"a"').join()}}`],
    ['with too many repeated fields', `{${Array(200).fill('"name":"a"').join()}}`],
    ['another value', '[1]'],
    ['nothing', ''],
    ['malformed on a far line', `{"name":${LINES}x`],
    ['that ends early', `{"name":"a"${LINES}`],
  ])('%s', (_what, text) => {
    const [small, large] = read(Buffer.from(text))
    expect(large).toEqual(small)
  })

  test('that is not UTF-8', () => {
    const [small, large] = read(Buffer.concat([Buffer.from(`{"name":"a${LINES}`), Buffer.from([0xff])]))
    expect(large).toEqual(small)
    expect(large).toMatchObject({ kind: 'malformed' })
  })
})
