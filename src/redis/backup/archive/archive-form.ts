import { BackupError } from '../../../domain/errors.ts'
import { SHARDS_MAX } from '../../../domain/limits.ts'

/**
 * An archive is one file, or one stream: a line of JSON, frames, and a sum. A frame is the number of a primary, a length of
 * four bytes and so many bytes of the data that this primary has sent; frames of several primaries come in any order. The
 * last frame has the number END and holds what is known in the end. Behind it stands the SHA-256 of all before.
 */
export const ARCHIVE_FORMAT = 1
export const FRAME_HEAD_BYTES = 5
export const FRAME_BYTES_MAX = 1024 ** 2
export const SUM_BYTES = 32
export const HEADER_BYTES_MAX = 64 * 1024
/** Number of the last frame. */
export const END = 255
/** A Redis Cluster may have a thousand; an installation has 64 shards at most. */
export const PRIMARIES_MAX = 200
const DAY_MS = 24 * 3600 * 1000
/** Counters of ids are raised by a backup's age, so a wrong date would use up ids for good. */
const AGE_MS_MAX = 10 * 366 * DAY_MS
/** How far the clock of whoever made it may be ahead of ours. */
const AHEAD_MS_MAX = DAY_MS

/** A primary whose data is in an archive. */
export interface ArchivedPrimary {
  readonly name: string
  readonly redisVersion: string
}

/** The line that an archive begins with. */
export interface ArchiveHeader {
  readonly format: typeof ARCHIVE_FORMAT
  /** Tells one archive from another. */
  readonly id: string
  /** Version of the program. */
  readonly program: string
  readonly installation: string
  readonly dataVersion: string
  readonly shards: number
  /** Number of the database in each primary; others may hold what is not ours. */
  readonly database: number
  readonly beganAt: string
  readonly primaries: readonly ArchivedPrimary[]
}

/** What its last frame says. */
export interface ArchiveEnd {
  readonly endedAt: string
  readonly keys: number
  /** Of each primary, in the order of the header. */
  readonly bytes: readonly number[]
}

/** @throws BackupError when it is no header, of another format, or of an impossible date */
export function headerOf(line: string, nowMs: number): ArchiveHeader {
  const read = objectOf(line)
  const { punctual, format } = read
  if (punctual !== 'backup') throw new BackupError('This is not a backup of Punctual.')
  if (format !== ARCHIVE_FORMAT) {
    throw new BackupError(
      `The backup has format ${String(format)}, and this version of Punctual reads format ${ARCHIVE_FORMAT}: use the version that wrote it, ${String(read['program'])}.`,
    )
  }
  const header = read as unknown as ArchiveHeader
  const { id, program, installation, dataVersion, shards, database, beganAt, primaries } = header
  const isWhole =
    [id, program, installation, dataVersion, beganAt].every((text) => typeof text === 'string') &&
    !Number.isNaN(Date.parse(beganAt)) &&
    isWithin(shards, 1, SHARDS_MAX) &&
    isWithin(database, 0, Number.MAX_SAFE_INTEGER) &&
    Array.isArray(primaries) &&
    isWithin(primaries.length, 1, PRIMARIES_MAX) &&
    primaries.every(isPrimary)
  if (!isWhole) throw new BackupError('The backup is damaged: its first line is not complete.')
  const ageMs = nowMs - Date.parse(beganAt)
  if (ageMs > AGE_MS_MAX || ageMs < -AHEAD_MS_MAX) {
    throw new BackupError(
      `The backup says that it is from ${beganAt}, which cannot be: check the clock of this machine.`,
    )
  }
  return { format, id, program, installation, dataVersion, shards, database, beganAt, primaries }
}

export function lineOf(header: ArchiveHeader): string {
  return `${JSON.stringify({ punctual: 'backup', ...header })}\n`
}

function isWithin(number: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(number) && Number(number) >= min && Number(number) <= max
}

function isPrimary(primary: unknown): boolean {
  if (typeof primary !== 'object' || primary === null) return false
  const { name, redisVersion } = primary as Partial<Record<keyof ArchivedPrimary, unknown>>
  return typeof name === 'string' && typeof redisVersion === 'string'
}

function objectOf(line: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(line)
    if (typeof read === 'object' && read !== null) return read as Record<string, unknown>
  } catch {
    // Told below.
  }
  throw new BackupError('This is not a backup of Punctual.')
}
