import type { Command } from 'commander'
import { type OutputFlags, watched } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { QUEUE_ARGUMENT } from '../connection/given-ids.ts'
import { queueIdOf } from '../connection/named-ids.ts'
import { wholeNumber } from '../given-number.ts'
import { STATISTICS_TABLE } from './statistics-text.ts'

interface StatisticsFlags extends OutputFlags {
  readonly since?: string
  readonly step?: string
}

/** Adds `stats`. */
export function registerStatisticsCommands(program: Command, runner: CommandRunner): void {
  watched(program.command('stats').argument('[queue]', QUEUE_ARGUMENT[1]))
    .description('show what happened over time in a queue, or in all queues of the team')
    .option('--since <time>', 'from this time on, such as 2026-12-24T18:00:00+01:00 (default: an hour ago)')
    .option('--step <seconds>', 'seconds of a line, a multiple of 60 (default: by the length of the range)')
    .action((queue: string | undefined, flags: StatisticsFlags) => {
      const { since } = flags
      const step = flags.step === undefined ? undefined : wholeNumber('--step', flags.step)
      return runner.request(
        flags,
        async (api) =>
          queue === undefined
            ? api.send('readStatistics', { since, step })
            : api.send('readQueueStatistics', { queue_id: await queueIdOf(api, queue), since, step }),
        STATISTICS_TABLE,
      )
    })
}
