import type { Command } from 'commander'
import type { Inputs } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import { type DestroyFlags, destroying, type OutputFlags, watched } from '../command-options.ts'
import type { CommandTools } from '../kind-commands.ts'
import { ENDED_SESSIONS, TEAM_SESSION_LIST } from './session-text.ts'

type Owner = Pick<Inputs['endTeamSessions'], 'kind' | 'subject'>

/** Adds `team`. */
export function addTeamSessions(sessions: Command, _session: unknown, { runner }: CommandTools): void {
  watched(sessions.command('team'))
    .description('list who is logged in for the team, and where; needs the permission admin')
    .action((flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('listTeamSessions', {}), TEAM_SESSION_LIST),
    )
}

interface EndFlags extends DestroyFlags {
  readonly session?: string
}

/** Adds `end-all`. */
export function addEndAll(sessions: Command, _session: unknown, { runner }: CommandTools): void {
  destroying(
    sessions.command('end-all').argument('<subject>', 'user/<name> or token/<name>, as team shows it'),
  )
    .description('end all sessions of a token or a user for the team, or one; needs the permission admin')
    .option('--session <id>', 'only this one')
    .action((text: string, flags: EndFlags) =>
      runner.run(flags, async (api) => {
        const owner = ownerIn(text)
        const { session: id } = flags
        const what = id === undefined ? 'every session' : `session ${id}`
        await runner.confirm(flags, () => `End ${what} of ${owner.kind} ${owner.subject}?`)
        const answer = await api.send('endTeamSessions', { ...owner, ...(id !== undefined && { id }) })
        runner.print(flags, answer, ENDED_SESSIONS)
      }),
    )
}

function ownerIn(text: string): Owner {
  const [, kind, subject = ''] = /^(user|token)\/(.+)$/s.exec(text) ?? []
  if (kind === 'user' || kind === 'token') return { kind, subject }
  throw cliError(
    `${JSON.stringify(text)} names no owner of sessions: give user/<name> or token/<name>`,
    MISUSED,
  )
}
