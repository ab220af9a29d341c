import type { ListedJob } from '../../../../ports/jobs.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { Spot } from './spot.ts'
import { openRows, readRecords } from './open-rows.ts'
import type { SeenJob } from './recorded-rows.ts'
import { READ_AT_ONCE, type AskedSection, type Room, type SectionPage } from './section-page.ts'
import { isNarrow } from './sections.ts'

/** A scan step has this many entries when few of them may match, however little room there is. */
const LOOKED_AT_ONCE_MIN = 100
/**
 * A scan step may find at most this many jobs beyond the room of the page. When it finds more, it is repeated with
 * fewer entries.
 */
const FOUND_BEYOND_MAX = 32
/**
 * Reads one scan step of open jobs, in no order. A position within a step would not survive changes of the hash, so the
 * position names what a step finds beyond the room of the page; such jobs are read again by their ids.
 */
export async function readScanned(
  engine: Engine,
  asked: AskedSection,
  { from, room, budget }: Room & { readonly from: Spot & { readonly kind: 'scan' } },
): Promise<SectionPage> {
  const { scan } = from
  if (from.found.length > 0) {
    const page = await readNamed(engine, asked, { ids: from.found, room, budget })
    return { jobs: page.jobs, next: { kind: 'scan', scan, found: page.rest } }
  }
  const { records } = asked.queue.keys.queue(asked.queue.localId)
  const first = isNarrow(asked.filter) ? Math.max(room, LOOKED_AT_ONCE_MIN) : room
  for (let count = Math.min(READ_AT_ONCE, first); ; count = room) {
    const [next, flat] = await engine.runner.read((redis) => redis.hscan(records, scan, 'COUNT', count))
    const seen: SeenJob[] = []
    for (let i = 0; i < flat.length; i += 2) seen.push({ id: Number(flat[i]), text: flat[i + 1] ?? null })
    const rows = await openRows(engine, asked, { jobs: seen, budget })
    const matches = seen.filter((_, i) => rows[i] !== null && i < rows.length)
    if (matches.length > room + FOUND_BEYOND_MAX && count > room) continue
    const undecided = seen.slice(rows.length)
    const found = [...matches.slice(room), ...undecided].map(({ id }) => id)
    return { jobs: rows.flatMap((row) => row ?? []).slice(0, room), next: spotAfter(next, found) }
  }
}

function spotAfter(scan: string, found: readonly number[]): Spot | null {
  if (scan !== '0') return { kind: 'scan', scan, found }
  return found.length === 0 ? null : { kind: 'found', found }
}

/** Reads the jobs that the last scan step found. */
export async function readFound(
  engine: Engine,
  asked: AskedSection,
  { from, room, budget }: Room & { readonly from: Spot & { readonly kind: 'found' } },
): Promise<SectionPage> {
  const { jobs, rest } = await readNamed(engine, asked, { ids: from.found, room, budget })
  return { jobs, next: rest.length === 0 ? null : { kind: 'found', found: rest } }
}

async function readNamed(
  engine: Engine,
  asked: AskedSection,
  { ids, room, budget }: Room & { readonly ids: readonly number[] },
): Promise<{ jobs: ListedJob[]; rest: readonly number[] }> {
  const now = ids.slice(0, READ_AT_ONCE)
  if (now.length === 0) return { jobs: [], rest: [] }
  const rows = await openRows(engine, asked, { jobs: await readRecords(engine, asked.queue, now), budget })
  const jobs: ListedJob[] = []
  let read = 0
  while (read < rows.length && jobs.length < room) {
    const row = rows[read] ?? null
    if (row !== null) jobs.push(row)
    read += 1
  }
  return { jobs, rest: ids.slice(read) }
}
