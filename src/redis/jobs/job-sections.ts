import type { Engine } from '../client/engine.ts'
import { readDeadLetters, readFinished } from './ended-jobs.ts'
import { FIRST_DUE, FIRST_SCAN } from './job-cursor.ts'
import type { AskedSection, SectionPage } from './section-page.ts'
import { ORDERED_JOBS_MAX, readOrdered, readScanned } from './open-jobs.ts'

/** How many jobs of the section this list may show. */
export function countSection(
  engine: Engine,
  { queue, section, status }: Pick<AskedSection, 'queue' | 'section' | 'status'>,
): Promise<number> {
  const { inFlight, records, deadLetters, history } = queue.keys.queue(queue.localId)
  return engine.runner.read((redis) => {
    if (section === 'dead') return redis.zcard(deadLetters)
    if (section === 'finished') return redis.llen(history)
    return status === 'processing' ? redis.zcard(inFlight) : redis.hlen(records)
  })
}

export function readSection(engine: Engine, asked: AskedSection, room: number): Promise<SectionPage> {
  const { section, spot, count } = asked
  if (spot.kind === 'left') {
    const read = section === 'dead' ? readDeadLetters : readFinished
    return read(engine, asked, { left: spot.left, room })
  }
  if (spot.kind === 'scan') return readScanned(engine, asked, { from: spot, room })
  const isFirst = spot.dueMs === FIRST_DUE.dueMs
  const isOrdered = count <= (isFirst ? ORDERED_JOBS_MAX : 2 * ORDERED_JOBS_MAX)
  return isOrdered
    ? readOrdered(engine, asked, { after: spot, room })
    : readScanned(engine, asked, { from: FIRST_SCAN, room })
}
