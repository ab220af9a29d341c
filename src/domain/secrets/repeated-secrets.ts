/** How often a text is taken out of one form into the next: JSON within JSON within a URL. */
const FORMS_MAX = 3
const MARKED = /[\\%&]/
const JSON_ESCAPE = /\\(?:u(?<code>[0-9a-f]{4})|(?<plain>["\\/]))/gi
const HTML_ENTITY =
  /&(?:#(?<decimal>\d{1,7})|#x(?<hex>[0-9a-f]{1,6})|(?<name>amp|lt|gt|quot|apos|sol|equals|colon));/gi
const PERCENT = /(?:%[0-9a-f]{2})+/gi
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  equals: '=',
  colon: ':',
}
const CODE_POINT_MAX = 0x10_ff_ff
/** Bytes that may stand before a secret within the three that four characters of base64 are made of. */
const BASE64_SHIFTS = [0, 1, 2]

/**
 * Whether a text repeats one of these secrets in a form of its own: escaped as in JSON, HTML or a URL, one within the other
 * too, in base64 or hexadecimal, or in other case. Takes time that grows with the text.
 */
export function repeatsInOtherForm(text: string, given: readonly string[]): boolean {
  // No form is shorter than what it stands for.
  const secrets = given.filter(({ length }) => length <= text.length)
  if (secrets.length === 0) return false
  const plain = plainOf(text)
  const lower = plain.toLowerCase()
  const standard = plain.replaceAll('-', '+').replaceAll('_', '/')
  return secrets.some(
    (secret) =>
      lower.includes(plainOf(secret).toLowerCase()) ||
      lower.includes(Buffer.from(secret).toString('hex')) ||
      BASE64_SHIFTS.some((shift) => standard.includes(base64Within(secret, shift))),
  )
}

function plainOf(text: string): string {
  let plain = text
  for (let form = 0; form < FORMS_MAX && MARKED.test(plain); form += 1) {
    const before = plain
    plain = plain
      .replace(JSON_ESCAPE, (_whole, code: string | undefined, sign: string) =>
        code === undefined ? sign : String.fromCharCode(Number.parseInt(code, 16)),
      )
      .replace(PERCENT, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8'))
      .replace(HTML_ENTITY, characterOf)
    if (plain === before) break
  }
  return plain
}

function characterOf(entity: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  return code <= CODE_POINT_MAX ? String.fromCodePoint(code) : entity
}

/** The characters of base64 that a secret has wherever so many bytes stand before it, without those that its neighbours share. */
function base64Within(secret: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)])
  const first = Math.ceil((shift * 8) / 6)
  const end = Math.floor((bytes.length * 8) / 6)
  return bytes.toString('base64').slice(first, end)
}
