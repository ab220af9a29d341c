import type { Command } from 'commander'
import type { ChannelTest, ChannelTestResults } from '../../../clients/typescript/src/client.ts'
import { cliError } from '../cli-error.ts'
import { connected, type OutputFlags } from '../command-options.ts'
import { type CommandRunner, readAnswer } from '../command-runner.ts'
import { plainId } from '../connection/given-ids.ts'
import type { Verb } from '../kind-commands.ts'
import { listView } from '../output/view.ts'

/** Adds `notifications` and its subcommand. */
export function registerNotificationCommands(program: Command, runner: CommandRunner): void {
  addTest(program.command('notifications').description('messages about alerts'), runner)
}

/** Adds the same to the group of the channels. */
export const addChannelTest: Verb = (group, _named, { runner }) => addTest(group, runner)

function addTest(group: Command, runner: CommandRunner): void {
  connected(
    group
      .command('test')
      .argument('[channel]', 'its name, or channel/<name>', (text) => plainId('channel', text)),
  )
    .description('send a test message to one channel or to all, and fail unless all took it')
    .action((channel: string | undefined, flags: OutputFlags) =>
      runner.run(flags, async (api) => {
        const body = channel === undefined ? {} : { channel }
        const answer = await api.send('testNotifications', { body })
        runner.print(flags, answer, RESULTS)
        const failed = readAnswer(() => failedOf(answer.body))
        if (failed.length > 0)
          throw cliError(`the test message was not taken by ${failed.join(', ')}: the answers above say why`)
      }),
    )
}

/** One line per channel. */
const RESULTS = listView<ChannelTestResults, ChannelTest>({
  kind: 'channel',
  items: ({ results }) => results,
  id: ({ channel }) => channel,
  columns: [
    { head: 'CHANNEL', cell: ({ channel }) => channel },
    { head: 'RESULT', cell: ({ ok }) => (ok ? 'sent' : 'failed') },
    { head: 'TOOK', cell: ({ took_ms: tookMs }) => `${tookMs} ms` },
    { head: 'ANSWER', cell: ({ answer }) => answer, isMain: true },
  ],
})

function failedOf({ results }: ChannelTestResults): readonly string[] {
  return results.filter(({ ok }) => !ok).map(({ channel }) => channel)
}
