import { BULK_PAGE_BYTES_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { AttemptSummary, JobRequest } from '../../../domain/jobs/job.ts'
import { decodeRecord, decodeRequest, isLargeRecord } from '../../base/layout/job-record.ts'
import { unlessDamaged } from '../../ledger/chain-reader.ts'
import type { PageJob } from './pages/page-rows.ts'

/** The part of a dead letter that is needed to make a new job of it. */
interface Letter {
  readonly attempts: readonly AttemptSummary[]
  readonly request: JobRequest
}

/** A dead letter, or why there is none. */
export type ReadLetter =
  | { readonly status: 'dead'; readonly letter: Letter }
  | { readonly status: 'damaged' }
  | { readonly status: 'not_dead_lettered' }

/**
 * Reads the dead letters of a page together. A page copies payloads within Redis, so it reads the first ones whose
 * payloads are no more than a mebibyte, but at least one.
 */
export async function readLetters(engine: Engine, jobs: readonly PageJob[]): Promise<readonly ReadLetter[]> {
  const texts = await readTexts(engine, jobs)
  const sizes = await readSizes(engine, jobs, texts)
  let bytes = 0
  const over = sizes.findIndex((size) => {
    bytes += size
    return bytes > BULK_PAGE_BYTES_MAX
  })
  const fitting = over === -1 ? jobs : jobs.slice(0, Math.max(1, over))
  return Promise.all(
    fitting.map(async (job, i): Promise<ReadLetter> => {
      const text = texts[i] ?? null
      if (text === null) return { status: 'not_dead_lettered' }
      const letter = letterIn(text, isLargeRecord(text) ? await readPayload(engine, job) : null)
      return letter === null ? { status: 'damaged' } : { status: 'dead', letter }
    }),
  )
}

/** Reads the record of each that is a dead letter. */
async function readTexts(engine: Engine, jobs: readonly PageJob[]): Promise<Array<string | null>> {
  const texts = new Map<PageJob, string | null>()
  const byQueue = Map.groupBy(jobs, ({ queue }) => queue.localId)
  await Promise.all(
    [...byQueue].map(async ([localId, own]) => {
      const key = own[0]?.queue.keys.queueKey('deadLetterRecords', localId) ?? ''
      const found = await engine.runner.read((redis) =>
        redis.hmget(key, ...own.map(({ rootId }) => String(rootId))),
      )
      for (const [i, job] of own.entries()) texts.set(job, found[i] ?? null)
    }),
  )
  return jobs.map((job) => texts.get(job) ?? null)
}

/** Reads how many bytes lie beside the record. */
function readSizes(
  engine: Engine,
  jobs: readonly PageJob[],
  texts: ReadonlyArray<string | null>,
): Promise<number[]> {
  return engine.runner.read((redis) =>
    Promise.all(
      jobs.map(async ({ rootId, queue }, i) => {
        const text = texts[i] ?? null
        if (text === null || !isLargeRecord(text)) return 0
        const key = queue.keys.queueKey('payloads', queue.localId)
        return redis.hstrlen(key, String(engine.jobIds.seqOf(rootId)))
      }),
    ),
  )
}

function readPayload(engine: Engine, { rootId, queue }: PageJob): Promise<string | null> {
  const key = queue.keys.queueKey('payloads', queue.localId)
  return engine.runner.read((redis) => redis.hget(key, String(engine.jobIds.seqOf(rootId))))
}

/** null = the letter is damaged. */
function letterIn(body: string, largePart: string | null): Letter | null {
  return unlessDamaged(
    () => {
      const { requestPart, earlier } = decodeRecord(body, largePart)
      return requestPart === null ? null : { attempts: earlier, request: decodeRequest(requestPart) }
    },
    () => null,
  )
}
