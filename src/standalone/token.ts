import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** The file of a data folder that holds the token. */
export const TOKEN_FILE = 'token'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_CHARACTERS = 32
const CHECKSUM_CHARACTERS = 6

/**
 * A new API token: `pk_`, 32 random characters (190 bits), a checksum of 6. Secret scanners recognise a leaked token by
 * prefix and checksum.
 */
export function makeToken(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () =>
    BASE62.charAt(randomInt(BASE62.length)),
  ).join('')
  return `pk_${random}${tokenChecksum(random)}`
}

/** CRC-32 of the random part in base 62, six digits. */
export function tokenChecksum(random: string): string {
  let rest = crc32(random)
  let text = ''
  for (let digit = 0; digit < CHECKSUM_CHARACTERS; digit += 1) {
    text = BASE62.charAt(rest % BASE62.length) + text
    rest = Math.floor(rest / BASE62.length)
  }
  return text
}
