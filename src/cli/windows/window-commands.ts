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
import type { CommandRunner } from '../command-runner.ts'
import { idArgument } from '../connection/given-ids.ts'
import { editVersion, withVersion } from '../connection/versioned-edit.ts'
import type { Stdin } from '../given-source.ts'
import {
  addCreateOptions,
  addEditOptions,
  type CreateFlags,
  type EditFlags,
  writeNewWindow,
  writeWindowEdit,
} from './window-body.ts'
import { READ_WINDOW, WINDOW_LIST, WINDOW_PAGE } from './window-text.ts'

interface WindowTools {
  readonly stdin: Stdin
  readonly nowMs: () => number
}

/** Adds `windows` and its subcommands; alone it lists. */
export function registerWindowCommands(program: Command, runner: CommandRunner, tools: WindowTools): void {
  const windows = program
    .command('windows')
    .description('list, create, change and delete maintenance windows')
  paged(listCommand(windows))
    .description('list maintenance windows by name')
    .action((flags: PageFlags) => {
      const page = { limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listWindows', page), WINDOW_LIST)
    })
  watched(windows.command('show').argument(...idArgument('window')))
    .description('show a maintenance window')
    .action((id: string, flags: OutputFlags) =>
      runner.request(
        flags,
        async (api) => withVersion(await api.send('readWindow', { window_id: id })),
        READ_WINDOW,
      ),
    )
  addChangeCommands(windows, runner, tools)
}

function addChangeCommands(windows: Command, runner: CommandRunner, { stdin, nowMs }: WindowTools): void {
  addCreateOptions(changing(windows.command('create')))
    .description('create a window: --for 2h from now on, or with --from, --until or --every')
    .action((flags: CreateFlags) =>
      runner.request(
        flags,
        async (api) => {
          const text = await writeNewWindow(flags, { api, stdin, nowMs: nowMs() })
          return api.send('createWindow', { body: new JsonText(text) })
        },
        WINDOW_PAGE,
      ),
    )
  addEditOptions(changing(windows.command('edit').argument(...idArgument('window'))))
    .description('change the given settings of a window, also while it is active')
    .action((id: string, flags: EditFlags) =>
      runner.request(
        flags,
        async (api) => {
          const text = await writeWindowEdit(flags, { api, stdin })
          const body = new JsonText(text)
          return editVersion({
            ...{ what: `window ${id}`, text, ifMatch: flags.ifMatch },
            read: () => api.send('readWindow', { window_id: id }),
            send: (options) => api.send('editWindow', { window_id: id, body }, options),
          })
        },
        WINDOW_PAGE,
      ),
    )
  changing(windows.command('delete').argument(...idArgument('window')))
    .description('delete a maintenance window; one that is active ends')
    .action((id: string, flags: OutputFlags) =>
      runner.act(flags, (api) => api.send('deleteWindow', { window_id: id }), {
        name: `window/${id}`,
        said: `window ${id} deleted`,
      }),
    )
}
