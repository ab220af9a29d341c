import type { ListedJob } from '../../../../ports/jobs.ts'
import { chainOf } from '../../../ledger/chain-reader.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { Spot } from './spot.ts'
import { recordedRows, type Rows } from './recorded-rows.ts'
import type { SearchBudget } from './search-budget.ts'
import {
  READ_AT_ONCE,
  type AskedSection,
  type Room,
  type SectionOfQueue,
  type SectionPage,
} from './section-page.ts'
import { isNarrow } from './sections.ts'

/** Shorter than the three days that a queue keeps its dead letters at least, because ends are timed by other clocks. */
const KEPT_MIN_MS = 2 * 86_400_000

export interface DeadLetter {
  readonly id: number
  readonly purgeMs: number
}

/**
 * Lists the latest purge first, which is newest first as long as the retention stays. A position names a dead letter,
 * not a rank, so that it stays right when others are replayed or purged.
 */
export async function readDeadLetters(
  engine: Engine,
  asked: AskedSection,
  { from, room, budget }: Room & { readonly from: Spot & { readonly kind: 'purge' } },
): Promise<SectionPage> {
  const wanted = isNarrow(asked.filter) ? READ_AT_ONCE : Math.min(READ_AT_ONCE, room)
  const { letters, rows } = await lettersFrom(engine, asked, { from, wanted, budget })
  const jobs: ListedJob[] = []
  for (const [i, row] of rows.entries()) {
    if (row !== null) jobs.push(row)
    const letter = letters[i]
    if (letter !== undefined && jobs.length >= room) return { jobs, next: { kind: 'purge', ...letter } }
  }
  const last = letters[rows.length - 1]
  const isEnd = last === undefined || (rows.length === letters.length && letters.length < wanted)
  return { jobs, next: isEnd ? null : { kind: 'purge', ...last } }
}

/**
 * Reads up to `wanted` dead letters after one, latest purge first unless `order` is 'oldest', and their rows, which end
 * early where payloads are too large to look at all.
 */
export async function lettersFrom(
  engine: Engine,
  asked: SectionOfQueue,
  { from, wanted, budget, order = 'newest' }: AskedLetters & { readonly budget: SearchBudget },
): Promise<{ readonly letters: readonly DeadLetter[]; readonly rows: Rows }> {
  const letters = await lettersAfter(engine, asked, { from, wanted, order })
  return { letters, rows: await rowsOf(engine, asked, { letters, budget }) }
}

interface AskedLetters {
  readonly from: DeadLetter
  readonly wanted: number
  readonly order?: 'newest' | 'oldest'
}

async function lettersAfter(
  engine: Engine,
  { queue, filter }: SectionOfQueue,
  { from, wanted, order }: AskedLetters,
): Promise<DeadLetter[]> {
  const { deadLetters } = queue.keys.queue(queue.localId)
  // A dead letter is kept from the end of its last attempt on, which none of its jobs outlasts.
  const leastMs = filter.ended.afterMs === null ? 0 : filter.ended.afterMs + KEPT_MIN_MS
  const isOldest = order === 'oldest'
  const after = String(from.id)
  // Dead letters of one millisecond come by the bytes of their ids, and some of them may have been listed.
  for (let asked = wanted + 1; ; asked *= 2) {
    const flat = await engine.runner.read((redis) =>
      isOldest
        ? redis.zrange(
            deadLetters,
            String(Math.max(from.purgeMs, leastMs)),
            '+inf',
            'BYSCORE',
            'LIMIT',
            0,
            asked,
            'WITHSCORES',
          )
        : redis.zrange(
            deadLetters,
            String(from.purgeMs),
            String(leastMs),
            'BYSCORE',
            'REV',
            'LIMIT',
            0,
            asked,
            'WITHSCORES',
          ),
    )
    const letters: DeadLetter[] = []
    for (let i = 0; i < flat.length; i += 2) {
      const [id = '', purgeMs] = [flat[i], Number(flat[i + 1])]
      const isBehind = isOldest ? purgeMs > from.purgeMs || id > after : purgeMs < from.purgeMs || id < after
      if (isBehind) letters.push({ id: Number(id), purgeMs })
    }
    if (letters.length >= wanted || flat.length < 2 * asked) return letters.slice(0, wanted)
  }
}

async function rowsOf(
  engine: Engine,
  asked: SectionOfQueue,
  { letters, budget }: { readonly letters: readonly DeadLetter[]; readonly budget: SearchBudget },
): Promise<Rows> {
  const { queue } = asked
  if (letters.length === 0) return []
  const { deadLetterRecords } = queue.keys.queue(queue.localId)
  const texts = await engine.runner.read((redis) =>
    redis.hmget(deadLetterRecords, ...letters.map(({ id }) => String(id))),
  )
  const jobs = letters.map(({ id }, i) => ({ id, text: texts[i] ?? null }))
  return recordedRows(engine, asked, {
    jobs,
    budget,
    chainWith: ({ id }, record) => chainOf(engine, queue, { rootId: id, record, open: null, calls: [] }),
  })
}
