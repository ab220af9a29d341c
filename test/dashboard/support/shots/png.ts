/** Pictures of a page with at most 256 colours, so that they weigh a third. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const COLOURS_MAX = 256
/** Colours that are nearer than this are one, and by how much it grows while they are too many. */
const NEAR = 1
const NEARER = 1.15

export interface PngSize {
  readonly width: number
  readonly height: number
}

export function sizeOfPng(png: Buffer): PngSize {
  if (!png.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new Error('this is no PNG')
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

/** @param png as Chromium makes them: 8 bits, not interlaced */
export function withFewColours(png: Buffer): Buffer {
  const { width, height } = sizeOfPng(png)
  const depth = png[25] === 6 ? 4 : 3
  const pixels = unfiltered(inflateSync(Buffer.concat(dataOf(png))), width, depth)
  const counts = new Map<number, number>()
  for (let at = 0; at < pixels.length; at += depth) {
    const colour = pixels.readUIntBE(at, 3)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const palette = paletteOf([...counts].toSorted((a, b) => b[1] - a[1]).map(([colour]) => colour))
  const places = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]))
  const lines = Buffer.alloc(height * (width + 1))
  for (let at = 0; at < width * height; at += 1) {
    const place = places.get(pixels.readUIntBE(at * depth, 3)) ?? 0
    lines[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = place
  }
  const head = Buffer.from(png.subarray(16, 29))
  // 8 bits, by palette.
  head.set([8, 3], 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap((colour) => partsOf(colour)))),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function dataOf(png: Buffer): Buffer[] {
  const data: Buffer[] = []
  for (let at = SIGNATURE.length; at < png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString('latin1', at + 4, at + 8) !== 'IDAT') continue
    data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  }
  return data
}

function unfiltered(lines: Buffer, width: number, depth: number): Buffer {
  const bytes = width * depth
  const pixels = Buffer.alloc((lines.length / (bytes + 1)) * bytes)
  for (let from = 0, to = 0; from < lines.length; from += bytes + 1, to += bytes) {
    for (let i = 0; i < bytes; i += 1) {
      const left = i < depth ? 0 : (pixels[to + i - depth] ?? 0)
      const up = to === 0 ? 0 : (pixels[to + i - bytes] ?? 0)
      const corner = i < depth || to === 0 ? 0 : (pixels[to + i - bytes - depth] ?? 0)
      const foretold = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][lines[from] ?? 0] ?? 0
      pixels[to + i] = ((lines[from + 1 + i] ?? 0) + foretold) & 0xff
    }
  }
  return pixels
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

/** @param colours the most frequent first */
function paletteOf(colours: readonly number[]): readonly number[] {
  for (let near = NEAR; ; near *= NEARER) {
    const palette: number[] = []
    for (const colour of colours) {
      if (palette.length > COLOURS_MAX) break
      if (palette.every((one) => distance(one, colour) >= near)) palette.push(colour)
    }
    if (palette.length <= COLOURS_MAX) return palette
  }
}

function nearest(palette: readonly number[], colour: number): number {
  let [found, least] = [0, Number.POSITIVE_INFINITY]
  for (const [at, one] of palette.entries()) {
    const apart = distance(one, colour)
    if (apart < least) [found, least] = [at, apart]
  }
  return found
}

function distance(a: number, b: number): number {
  const [p, q] = [partsOf(a), partsOf(b)]
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])
}

function partsOf(colour: number): [number, number, number] {
  return [colour >> 16, (colour >> 8) & 0xff, colour & 0xff]
}

function chunk(kind: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
