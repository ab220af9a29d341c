import * as fc from 'fast-check'

/** Any code point but the halves of pairs. */
const point = fc.integer({ min: 0, max: 0x10_f7_ff }).map((at) => (at < 0xd8_00 ? at : at + 0x8_00))

/** As `fc.string({ unit: 'binary' })`, which takes a second to get ready. Lengths count code points. */
export function anyText(length: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.array(point, length).map((points) => String.fromCodePoint(...points))
}

/** URLs as `fc.webUrl` has them, which takes as long. */
export function anyUrl(): fc.Arbitrary<string> {
  const part = anyText({ maxLength: 12 }).map((text) => encodeURIComponent(text))
  const host = fc.webAuthority({ withIPv4: true, withIPv4Extended: true, withIPv6: true, withPort: true })
  return fc
    .tuple(
      fc.constantFrom('http', 'https'),
      host,
      fc.array(part, { maxLength: 3 }),
      fc.option(part),
      fc.option(part),
    )
    .map(([scheme, authority, path, query, fragment]) => {
      const end = `${query === null ? '' : `?${query}`}${fragment === null ? '' : `#${fragment}`}`
      return `${scheme}://${authority}/${path.join('/')}${end}`
    })
}
