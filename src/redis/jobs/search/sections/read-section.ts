import type { Engine } from '../../../base/engine/engine.ts'
import { readDeadLetters } from './dead-jobs.ts'
import { readFinished } from './finished-jobs.ts'
import { readFound, readScanned } from './open-scan.ts'
import { ORDERED_JOBS_MAX, readOrdered } from './open-jobs.ts'
import { FIRST_SCAN, type AskedSection, type Room, type SectionPage } from './section-page.ts'

/** Counts how many jobs of the section this list may show. */
export function countSection(
  engine: Engine,
  { queue, section, filter }: Pick<AskedSection, 'queue' | 'section' | 'filter'>,
): Promise<number> {
  const { inFlight, records, deadLetters, history } = queue.keys.queue(queue.localId)
  return engine.runner.read((redis) => {
    if (section === 'dead') return redis.zcard(deadLetters)
    if (section === 'finished') return redis.llen(history)
    return filter.status === 'processing' ? redis.zcard(inFlight) : redis.hlen(records)
  })
}

/** Reads a bounded piece of a section, in the order of the list. */
export function readSection(engine: Engine, asked: AskedSection, room: Room): Promise<SectionPage> {
  const from = asked.spot
  switch (from.kind) {
    case 'due': {
      const isOrdered = asked.count <= (from.dueMs === 0 ? 1 : 2) * ORDERED_JOBS_MAX
      return isOrdered
        ? readOrdered(engine, asked, { ...room, from })
        : readScanned(engine, asked, { ...room, from: FIRST_SCAN })
    }
    case 'scan':
      return readScanned(engine, asked, { ...room, from })
    case 'found':
      return readFound(engine, asked, { ...room, from })
    case 'purge':
      return readDeadLetters(engine, asked, { ...room, from })
    case 'left':
      return readFinished(engine, asked, { ...room, from })
  }
}
