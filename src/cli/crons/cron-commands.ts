import type { Command } from 'commander'
import { connected, type OutputFlags } from '../command-options.ts'
import { readAnswer } from '../command-runner.ts'
import type { Api } from '../connection/api.ts'
import { wholeNumber } from '../given-number.ts'
import { TIME_AHEAD, timeAhead } from '../given-time.ts'
import type { CommandTools } from '../kind-commands.ts'
import { PREVIEW } from './cron-text.ts'

interface PreviewFlags extends OutputFlags {
  readonly zone?: string
  readonly count?: string
  readonly after?: string
}

export function addPreview(crons: Command, _cron: unknown, { runner, nowMs }: CommandTools): void {
  connected(crons.command('preview <expression>'))
    .description('describe an expression and list its next ticks; creates nothing')
    .option('--zone <zone>', 'time zone of the expression (default: UTC)')
    .option('--count <count>', 'number of ticks, up to 100 (default: 5)')
    .option('--after <time>', `only ticks after this time, such as ${TIME_AHEAD} (default: now)`)
    .action((expression: string, flags: PreviewFlags) =>
      runner.request(
        flags,
        (api) => api.send('previewCron', { body: previewBody(expression, flags, nowMs()) }),
        PREVIEW,
      ),
    )
}

function previewBody(expression: string, { zone, count, after }: PreviewFlags, nowMs: number) {
  const start = timeAhead('--after', after, nowMs)
  return {
    cron_expression: expression,
    ...(zone !== undefined && { time_zone: zone }),
    ...(count !== undefined && { count: wholeNumber('--count', count) }),
    ...(start !== undefined && { after: start }),
  }
}

/** What is asked before a cron is deleted. */
export async function deletionOfCron(api: Api, id: string): Promise<string> {
  const { body } = await api.send('readCron', { cron_id: id })
  return readAnswer(() => `Delete cron ${id} ${body.name} (${body.cron_expression})?`)
}
