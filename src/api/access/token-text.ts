import { crc32 } from 'node:zlib'

/** Random bytes of a token. */
export const TOKEN_BYTES = 32
/** Length of the part of a token that stays readable, so that people tell tokens apart. */
const PREFIX_CHARACTERS = 8
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^43 > 2^256, 62^6 > 2^32. */
const RANDOM_CHARACTERS = 43
const CHECK_CHARACTERS = 6

/**
 * `pun_<random>_<check>`, in base 62. Scanners of leaked secrets find it by its beginning, and know by the CRC-32 of what
 * stands before it that it is one.
 */
export function tokenTextOf(random: Uint8Array): string {
  if (random.length !== TOKEN_BYTES) throw new Error(`a token has ${TOKEN_BYTES} random bytes`)
  const text = `pun_${base62(BigInt(`0x${Buffer.from(random).toString('hex')}`), RANDOM_CHARACTERS)}`
  return `${text}_${base62(BigInt(crc32(text)), CHECK_CHARACTERS)}`
}

export function prefixOf(token: string): string {
  return token.slice(0, PREFIX_CHARACTERS)
}

function base62(value: bigint, characters: number): string {
  let text = ''
  for (let rest = value; text.length < characters; rest /= 62n) text = `${DIGITS[Number(rest % 62n)]}${text}`
  return text
}
