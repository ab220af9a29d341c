import { cliError, MISUSED, NOT_FOUND } from '../cli-error.ts'
import { readAnswer } from '../command-runner.ts'
import type { Api } from './api.ts'
import { type Kind, namedIn } from './given-ids.ts'

const CRONS_OF_A_PAGE = 1000
/** Crons may share a name, so all are searched. A team with more of them has to give an id. */
const CRON_PAGES_MAX = 20

/** Finds the id of a queue that is given by its name or id. */
export async function queueIdOf(api: Api, text: string): Promise<string> {
  const named = namedIn('queue', text)
  if ('id' in named) return named.id
  const { body } = await api.send('listQueues', { name: named.name, limit: 1 })
  const queue = readAnswer(() => body.queues.find(({ name }) => name === named.name))
  if (queue === undefined) throw unknownName('queue', named.name)
  return String(queue.queue_id)
}

/** Finds the name of a queue that is given by its name or id. A name is not checked. */
export async function queueNameOf(api: Api, text: string): Promise<string> {
  const named = namedIn('queue', text)
  return 'name' in named ? named.name : (await api.send('readQueue', { queue_id: named.id })).body.name
}

/** Finds the id of a cron that is given by its name or id. */
export async function cronIdOf(api: Api, text: string): Promise<string> {
  const named = namedIn('cron', text)
  if ('id' in named) return named.id
  const ids = await cronIdsNamed(api, named.name)
  const [id] = ids
  if (id === undefined) throw unknownName('cron', named.name)
  if (ids.length === 1) return String(id)
  throw cliError(
    `${ids.length} crons are named ${JSON.stringify(named.name)}: give one of ${ids.join(', ')}`,
    MISUSED,
  )
}

async function cronIdsNamed(api: Api, name: string): Promise<readonly number[]> {
  const ids: number[] = []
  let cursor: string | undefined
  for (let page = 0; page < CRON_PAGES_MAX; page += 1) {
    const { body } = await api.send('listCrons', { limit: CRONS_OF_A_PAGE, cursor })
    const named = readAnswer(() => body.crons.filter((cron) => cron.name === name))
    ids.push(...named.map(({ id }) => id))
    if (typeof body.next_cursor !== 'string') return ids
    cursor = body.next_cursor
  }
  throw cliError(`the team has more than ${CRON_PAGES_MAX * CRONS_OF_A_PAGE} crons: give an id`, MISUSED)
}

function unknownName(kind: Kind, name: string): Error {
  const what = `the team of this token has no ${kind} named ${JSON.stringify(name)}`
  return cliError(`Not found: ${what} (an id is a whole number; punctual ${kind}s lists both)`, NOT_FOUND)
}
