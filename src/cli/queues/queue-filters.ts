import { type Command, Option } from 'commander'
import { QUEUE_SORTS } from '../../domain/jobs/queues/queue-order.ts'
import type { PageFlags } from '../command-options.ts'
import type { Api } from '../connection/api.ts'

interface QueueFlags extends PageFlags {
  readonly text?: string
  readonly sort?: string
}

/** What a list of queues is asked for. */
export const QUEUE_FILTERS = {
  add: (command: Command): Command =>
    command
      .option('--text <part>', 'only queues whose name contains it, in letters of either case')
      .addOption(
        new Option(
          '--sort <order>',
          'name (default); trouble: what fails or is late first; oldest: the oldest startable job first; failed: the largest part of failed jobs of the last hour first',
        ).choices(QUEUE_SORTS),
      ),
  of: (_api: Api, { text, sort }: QueueFlags): Promise<object> => Promise.resolve({ text, sort }),
}
