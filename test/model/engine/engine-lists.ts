import { ANY_JOB } from '../../../src/domain/jobs/job-filter.ts'
import type { Engine } from '../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import type { EngineModel } from './engine-model.ts'
import type { ModelQueue } from './model-records.ts'
import { queuePages } from '../../support/engine/lists/queue-pages.ts'

/** Small, so that places lie between and within all that is listed. */
const PAGE = 3

/** Reads the lists of every team page by page and says how they differ from the model. */
export async function listDifferences(engine: Engine, model: EngineModel): Promise<string[]> {
  const found: string[] = []
  const compare = (what: string, real: readonly unknown[], expected: readonly unknown[]) => {
    if (real.join(' ') !== expected.join(' '))
      found.push(`${what}: the list has [${real.join(' ')}], the model [${expected.join(' ')}]`)
  }
  for (const [team, queues] of Map.groupBy(model.queues.values(), ({ team }) => team)) {
    const inOrder = queues.map((queue) => ({ name: nameOf(model, queue), queue })).toSorted(byName)
    const names = await pages((cursor) => listQueues(engine, team, cursor))
    compare(
      `queues of ${team}`,
      names,
      inOrder.map(({ name }) => name),
    )
    const jobs = await pages((cursor) => listJobs(engine, team, cursor))
    const expected = inOrder.map(({ queue }) => expectedOf(model, queue))
    const count = expected.reduce((sum, { open, ended }) => sum + open.length + ended.length, 0)
    compare(`jobs of ${team}`, [jobs.length], [count])
    let at = 0
    for (const { open, ended } of expected) {
      compare(`open jobs of ${team}`, jobs.slice(at, at + open.length), open)
      at += open.length
      compare(`ended jobs of ${team}`, sorted(jobs.slice(at, at + ended.length)), sorted(ended))
      at += ended.length
    }
  }
  return found
}

function nameOf(model: EngineModel, queue: ModelQueue): string {
  const [field = ''] = [...model.queues].find(([, each]) => each === queue) ?? []
  return field.slice(queue.team.length + 1)
}

const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b)

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
}

/** By due time what has not ended; of the rest which, and not in which order. */
function expectedOf(model: EngineModel, queue: ModelQueue): { open: number[]; ended: number[] } {
  const open = model.inQueue(queue.key).toSorted((a, b) => a.dueMs - b.dueMs || a.id - b.id)
  const dead = [...model.dead].flatMap(([root, letter]) => (letter.queue === queue ? [root] : []))
  const finished = [...model.finished].flatMap(([root, chain]) => (chain.queue === queue ? [root] : []))
  return { open: open.map(({ id }) => id), ended: [...dead, ...finished] }
}

interface Page<T> {
  readonly rows: readonly T[]
  readonly nextCursor: string | null
}

async function pages<T>(read: (cursor: string | null) => Promise<Page<T>>): Promise<T[]> {
  const rows: T[] = []
  let cursor: string | null = null
  do {
    const page: Page<T> = await read(cursor)
    rows.push(...page.rows)
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}

async function listQueues(engine: Engine, team: string, cursor: string | null): Promise<Page<string>> {
  const page = await queuePages(engine)({ team, limit: PAGE, cursor })
  if (page === 'bad_cursor') throw new Error(`a cursor of queues was refused: ${cursor}`)
  return { rows: page.queues.map(({ name }) => name), nextCursor: page.nextCursor }
}

async function listJobs(engine: Engine, team: string, cursor: string | null): Promise<Page<number>> {
  const page = await createJobStore(engine).list({ team, filter: ANY_JOB, queues: null, limit: PAGE, cursor })
  if (typeof page === 'string') throw new Error(`${page} of jobs: ${cursor}`)
  return { rows: page.jobs.map(({ jobId }) => jobId), nextCursor: page.nextCursor }
}
