import { HISTORY_BLOCK_CHAINS } from '../../../../domain/limits.ts'

/** Fewer offsets are written one by one, a byte each, and 32 or more as a bit for each chain of the block. */
const BITMAP_BYTES = HISTORY_BLOCK_CHAINS / 8

/** @param offsets in ascending order, without repeats */
export function encodeOffsets(offsets: readonly number[]): string {
  if (offsets.length < BITMAP_BYTES) return Buffer.from(offsets).toString('base64url')
  const bits = new Uint8Array(BITMAP_BYTES)
  for (const offset of offsets) bits[offset >> 3] = (bits[offset >> 3] ?? 0) | (1 << (offset & 7))
  return Buffer.from(bits).toString('base64url')
}

export function decodeOffsets(text: string): number[] {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < BITMAP_BYTES) return [...bytes]
  return Array.from({ length: HISTORY_BLOCK_CHAINS }, (_, offset) => offset).filter(
    (offset) => ((bytes[offset >> 3] ?? 0) & (1 << (offset & 7))) !== 0,
  )
}
