import type { Command } from 'commander'
import { type OutputFlags, watched } from '../command-options.ts'
import { QUEUE_ARGUMENT } from '../connection/given-ids.ts'
import { queueIdOf } from '../connection/named-ids.ts'
import { maybeSeconds, TIME_BACK, timeBack } from '../given-time.ts'
import type { CommandTools } from '../kind-commands.ts'
import { STATISTICS_TABLE } from './statistics-text.ts'

interface StatisticsFlags extends OutputFlags {
  readonly after?: string
  readonly until?: string
  readonly step?: string
  readonly compare?: boolean
}

/** Adds `stats`. */
export function registerStatisticsCommands(program: Command, { runner, nowMs }: CommandTools): void {
  watched(program.command('stats').argument('[queue]', QUEUE_ARGUMENT[1]))
    .description('show what happened over time in a queue, or in all queues of the team')
    .option('--after <time>', `from this time on, such as ${TIME_BACK} (default: an hour before its end)`)
    .option('--until <time>', `up to this time, such as ${TIME_BACK} (default: now)`)
    .option(
      '--step <seconds>',
      'seconds of a line, a multiple of 60, or such as 5m (default: by the length of the range)',
    )
    .option('--compare', 'show beside it what was in the span before, of the same length')
    .action((queue: string | undefined, flags: StatisticsFlags) =>
      runner.request(
        flags,
        async (api) => {
          const asked = {
            since: timeBack('--after', flags.after, nowMs()),
            until: timeBack('--until', flags.until, nowMs()),
            step: maybeSeconds('--step', flags.step),
            ...(flags.compare === true && { compare: 'previous' as const }),
          }
          return queue === undefined
            ? api.send('readStatistics', asked)
            : api.send('readQueueStatistics', { queue_id: await queueIdOf(api, queue), ...asked })
        },
        STATISTICS_TABLE,
      ),
    )
}
