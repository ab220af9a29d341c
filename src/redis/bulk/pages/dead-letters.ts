import { BULK_PAGE_BYTES_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../client/engine.ts'
import { isLargeRecord } from '../../layout/job-record.ts'
import { type Letter, letterIn } from '../../mending/ended-chain.ts'
import type { Candidate } from './candidates.ts'

/** What a new job is made of, or why there is none. */
export type ReadLetter =
  | { readonly status: 'dead'; readonly letter: Letter }
  | { readonly status: 'damaged' }
  | { readonly status: 'not_dead_lettered' }

/**
 * Reads the dead letters of a page, all together. A page copies payloads within Redis, so these are the first ones whose
 * payloads are no more than a mebibyte, but at least one.
 */
export async function readLetters(
  engine: Engine,
  candidates: readonly Candidate[],
): Promise<readonly ReadLetter[]> {
  const texts = await readTexts(engine, candidates)
  const sizes = await readSizes(engine, candidates, texts)
  let bytes = 0
  const over = sizes.findIndex((size) => {
    bytes += size
    return bytes > BULK_PAGE_BYTES_MAX
  })
  const fitting = over === -1 ? candidates : candidates.slice(0, Math.max(1, over))
  return Promise.all(
    fitting.map(async (candidate, i): Promise<ReadLetter> => {
      const text = texts[i] ?? null
      if (text === null) return { status: 'not_dead_lettered' }
      const letter = letterIn(text, isLargeRecord(text) ? await readPayload(engine, candidate) : null)
      return letter === null ? { status: 'damaged' } : { status: 'dead', letter }
    }),
  )
}

/** The record of each that is a dead letter. */
async function readTexts(engine: Engine, candidates: readonly Candidate[]): Promise<Array<string | null>> {
  const texts = new Map<Candidate, string | null>()
  const byQueue = Map.groupBy(candidates, ({ queue }) => queue.localId)
  await Promise.all(
    [...byQueue].map(async ([localId, own]) => {
      const key = own[0]?.queue.keys.queueKey('deadLetterRecords', localId) ?? ''
      const found = await engine.runner.read((redis) =>
        redis.hmget(key, ...own.map(({ rootId }) => String(rootId))),
      )
      for (const [i, candidate] of own.entries()) texts.set(candidate, found[i] ?? null)
    }),
  )
  return candidates.map((candidate) => texts.get(candidate) ?? null)
}

/** Bytes beside the record. */
function readSizes(
  engine: Engine,
  candidates: readonly Candidate[],
  texts: ReadonlyArray<string | null>,
): Promise<number[]> {
  return engine.runner.read((redis) =>
    Promise.all(
      candidates.map(async ({ rootId, queue }, i) => {
        const text = texts[i] ?? null
        if (text === null || !isLargeRecord(text)) return 0
        const key = queue.keys.queueKey('payloads', queue.localId)
        return redis.hstrlen(key, String(engine.jobIds.seqOf(rootId)))
      }),
    ),
  )
}

function readPayload(engine: Engine, { rootId, queue }: Candidate): Promise<string | null> {
  const key = queue.keys.queueKey('payloads', queue.localId)
  return engine.runner.read((redis) => redis.hget(key, String(engine.jobIds.seqOf(rootId))))
}
