import type { Command } from 'commander'
import type { ChannelTestResults } from '../../contract/generated/wire.ts'
import { cliError } from '../cli-error.ts'
import { connected, type OutputFlags } from '../command-options.ts'
import { type CommandRunner, readAnswer } from '../command-runner.ts'
import { columns, printable } from '../text-table.ts'

/** Adds `notifications` and its subcommand. */
export function registerNotificationCommands(program: Command, runner: CommandRunner): void {
  const notifications = program.command('notifications').description('messages about alerts')
  connected(notifications.command('test [channel]'), 'table')
    .description('send a test message to one channel or to all, and fail unless all took it')
    .action((channel: string | undefined, flags: OutputFlags) =>
      runner.run(flags, async (api) => {
        const text = await api.post('/api/notifications/test', JSON.stringify({ channel }))
        runner.print(flags, text, resultTable)
        const failed = readAnswer(text, failedOf)
        if (failed.length > 0) throw cliError(`not taken by ${failed.join(', ')}`)
      }),
    )
}

/** One line per channel. */
function resultTable({ results }: ChannelTestResults): string {
  const rows = results.map(({ channel, ok, answer, took_ms: tookMs }) => [
    channel,
    ok ? 'sent' : 'failed',
    `${tookMs} ms`,
    answer,
  ])
  return printable(`${columns([['CHANNEL', 'RESULT', 'TOOK', 'ANSWER'], ...rows])}\n`)
}

function failedOf({ results }: ChannelTestResults): readonly string[] {
  return results.filter(({ ok }) => !ok).map(({ channel }) => channel)
}
