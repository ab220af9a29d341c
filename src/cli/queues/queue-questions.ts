import type { Queue } from '../../../clients/typescript/src/client.ts'
import { readAnswer } from '../command-runner.ts'
import type { Api } from '../connection/api.ts'

/** What is asked before a queue is deleted. */
export async function deletionOfQueue(api: Api, id: string): Promise<string> {
  return asked(api, id, ({ name, counts }) => {
    const open = counts.pending + counts.delayed
    const waiting = `${open} waiting ${open === 1 ? 'job' : 'jobs'}`
    const held = `${waiting}, ${counts.processing} in flight and ${lettersText(counts.dead)}`
    return `Delete queue ${id} ${name} with ${held}?`
  })
}

/** What is asked before the dead letters of a queue are purged. */
export async function purgeOfQueue(api: Api, id: string): Promise<string> {
  return asked(api, id, ({ name, counts }) => `Purge ${lettersText(counts.dead)} of queue ${id} ${name}?`)
}

async function asked(api: Api, id: string, question: (queue: Queue) => string): Promise<string> {
  const { body } = await api.send('readQueue', { queue_id: id })
  return readAnswer(() => question(body))
}

function lettersText(count: number): string {
  return count === 1 ? '1 dead letter' : `${count} dead letters`
}
