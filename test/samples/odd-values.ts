import { fieldName } from '../../src/resources/schema/field-path.ts'
import type { FieldPath } from '../../src/resources/schema/field-path.ts'
import type { KindSamples, Sample } from './sample.ts'
import { valueAt, withValueAt } from './value-at.ts'

/** Values at the edges of types, formats, patterns and the two regular expression engines. */
const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1,
  1.5,
  3.0,
  14,
  1e21,
  2 ** 31,
  2 ** 53 + 2,
  [],
  {},
  [null],
  [1],
  ['a', 'a'],
  [{}],
  '',
  ' ',
  'x',
  'é',
  '😀',
  '\u0000',
  '200',
  '0200',
  '1e3',
  '2147483648',
  'jan',
  'a'.repeat(64),
  'http://a',
  'http://a b',
  'HTTP://ü.test/?x',
  'https://a\u2028',
  'http://\u00a0',
  'http://a#@b',
  'http:\\\\a',
  '* * * * *',
  '*\u00a0* * * *',
  '*\v* * * *',
  '* * * * *\n',
  ' 0 8 * * mon\t',
  '10.0.0.0/8',
  '10.0.0.0/+8',
  '1.2.3',
  '01.2.3.4',
  '::1.2.3.4',
  '::1.2.3.0/120',
  '1:2:3:4:5:6:7::',
  '1::/0x8',
  'a.1',
  'a.1a',
  'a.b.',
  '..',
  '.a',
  'A_b.c',
  '\u212aelvin.test',
  'ho\u017ft',
  'HoSt',
  'X-Punctual-A',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.123456789Z',
  '2026-1-1T00:00:00Z',
  '2026-01-01T00:00:00+23:59',
]

/** Every odd value at every place of the full specs: valid or not, both must say the same. */
export function oddSamples({ kind, name, full }: KindSamples): readonly Sample[] {
  return full.flatMap((spec) =>
    placesIn(spec).flatMap((path) =>
      ODD.map((value) => ({
        title: `${fieldName(path)} ${JSON.stringify(value)}`,
        kind,
        name,
        spec: withValueAt(spec, path, value),
      })),
    ),
  )
}

function placesIn(spec: unknown, path: FieldPath = []): readonly FieldPath[] {
  const value = valueAt(spec, path)
  if (typeof value !== 'object' || value === null) return [path]
  const below = Object.keys(value).flatMap((key) =>
    placesIn(spec, [...path, Array.isArray(value) ? Number(key) : key]),
  )
  return [path, ...below]
}
