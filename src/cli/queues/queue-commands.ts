import type { Command } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import {
  changing,
  limitOf,
  listCommand,
  type OutputFlags,
  paged,
  type PageFlags,
  watched,
} from '../command-options.ts'
import { BULK_PAGE } from '../bulk/bulk-text.ts'
import type { CommandRunner } from '../command-runner.ts'
import { QUEUE_ARGUMENT } from '../connection/given-ids.ts'
import { queueIdOf } from '../connection/named-ids.ts'
import { editVersion, withVersion } from '../connection/versioned-edit.ts'
import type { Stdin } from '../given-source.ts'
import { editQueueCommand, type QueueEditFlags, writeQueueEdit } from './queue-edit.ts'
import { EDITED_QUEUE, QUEUE_LIST, QUEUE_PAGE, READ_QUEUE } from './queue-text.ts'

/** Adds `queues` and its subcommands; alone it lists. */
export function registerQueueCommands(program: Command, runner: CommandRunner, stdin: Stdin): void {
  const queues = program.command('queues').description('list and manage queues')
  addReadCommands(queues, runner)
  addEditCommand(queues, runner, stdin)
  for (const [action, operation, description] of [
    ['pause', 'pauseQueue', 'start no more jobs of a queue; those in flight end normally'],
    ['drain', 'drainQueue', 'take no new jobs in a queue, and let the rest run'],
    ['resume', 'resumeQueue', 'end a pause or a drain'],
  ] as const) {
    const command = changing(queues.command(action).argument(...QUEUE_ARGUMENT)).description(description)
    if (action !== 'resume') command.option('--reason <text>', 'why, for those who look at the queue')
    command.action((queue: string, { reason, ...flags }: OutputFlags & { readonly reason?: string }) =>
      runner.request(
        flags,
        async (api) => {
          const body = reason === undefined ? {} : { body: { reason } }
          return api.send(operation, { queue_id: await queueIdOf(api, queue), ...body })
        },
        QUEUE_PAGE,
      ),
    )
  }
  addRemovalCommands(queues, runner)
}

function addReadCommands(queues: Command, runner: CommandRunner): void {
  paged(listCommand(queues))
    .description('list queues by name')
    .action((flags: PageFlags) => {
      const page = { limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listQueues', page), QUEUE_LIST)
    })
  watched(queues.command('show').argument(...QUEUE_ARGUMENT))
    .description('show a queue, its settings and how many jobs it holds')
    .action((queue: string, flags: OutputFlags) =>
      runner.request(
        flags,
        async (api) => withVersion(await api.send('readQueue', { queue_id: await queueIdOf(api, queue) })),
        READ_QUEUE,
      ),
    )
}

function addEditCommand(queues: Command, runner: CommandRunner, stdin: Stdin): void {
  editQueueCommand(queues).action((queue: string, flags: QueueEditFlags) =>
    runner.request(
      flags,
      async (api) => {
        const text = await writeQueueEdit(flags, stdin)
        const id = await queueIdOf(api, queue)
        const body = new JsonText(text)
        return editVersion({
          ...{ what: `queue ${id}`, text, ifMatch: flags.ifMatch },
          read: () => api.send('readQueue', { queue_id: id }),
          send: (options) => api.send('editQueue', { queue_id: id, body }, options),
        })
      },
      EDITED_QUEUE,
    ),
  )
}

function addRemovalCommands(queues: Command, runner: CommandRunner): void {
  changing(queues.command('purge').argument(...QUEUE_ARGUMENT))
    .description('delete the dead letters of a queue, by a bulk; this cannot be undone')
    .action((queue: string, flags: OutputFlags) =>
      runner.request(
        flags,
        async (api) => api.send('purgeQueue', { queue_id: await queueIdOf(api, queue) }),
        BULK_PAGE,
      ),
    )
  changing(queues.command('delete').argument(...QUEUE_ARGUMENT))
    .description('delete a queue with all its jobs; this cannot be undone')
    .action((queue: string, flags: OutputFlags) =>
      runner.run(flags, async (api) => {
        const id = await queueIdOf(api, queue)
        await api.send('deleteQueue', { queue_id: id })
        runner.report(flags, { name: `queue/${id}`, said: `queue ${id} deleted` })
      }),
    )
}
