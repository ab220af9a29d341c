import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Encoding } from './dashboard/built-dashboard.ts'

/** A shorter answer fits in one packet as it is. */
const COMPRESSED_CHARACTERS_MIN = 1024
/** Compression runs beside DNS look-ups in four threads: answers beyond these are sent as they are. */
const COMPRESSIONS_AT_ONCE_MAX = 2
/** The usual one for what is compressed as it is sent: 11, which is zlib's own default, takes fifty times as long. */
const BROTLI_QUALITY = 4
const WANTED = /^\s*(?<name>[\w*-]+)\s*(?:;\s*q=(?<weight>[\d.]+)\s*)?$/i

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** The best compression that a client takes; null = none. */
export function encodingFor(acceptEncoding: string): Encoding | null {
  const weights = new Map<string, number>()
  for (const part of acceptEncoding.split(',')) {
    const { name, weight } = WANTED.exec(part)?.groups ?? {}
    if (name !== undefined) weights.set(name.toLowerCase(), weight === undefined ? 1 : Number(weight))
  }
  const takes = (name: Encoding): boolean => (weights.get(name) ?? weights.get('*') ?? 0) > 0
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : null
}

let atWork = 0

/** How an answer is to be compressed; null = it is sent as it is. */
export function dynamicEncoding({ req }: ServerResponse, body: string): Encoding | null {
  if (body.length < COMPRESSED_CHARACTERS_MIN || atWork >= COMPRESSIONS_AT_ONCE_MAX) return null
  return encodingFor(req.headers['accept-encoding'] ?? '')
}

/** Compresses in a thread of its own, so that other requests go on meanwhile. */
export async function compressed(body: string, encoding: Encoding): Promise<Buffer> {
  atWork += 1
  try {
    if (encoding === 'gzip') return await zip(body)
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
    return await brotli(body, {
      params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: body.length },
    })
  } finally {
    atWork -= 1
  }
}
