import { type Command, Option } from 'commander'
import type { Inputs } from '../../../clients/typescript/src/client.ts'
import { AUDITED_KINDS } from '../../domain/access/audit-record.ts'
import { limitOf, paged, type PageFlags } from '../command-options.ts'
import { TIME_BACK, timeBack } from '../given-time.ts'
import type { CommandTools } from '../kind-commands.ts'
import { AUDIT_LIST } from './audit-text.ts'

type AuditQuery = Inputs['listAuditRecords']

interface AuditFlags extends PageFlags {
  readonly actor?: string
  readonly action?: string
  readonly resourceKind?: NonNullable<AuditQuery['resource_kind']>
  readonly resource?: string
  readonly after?: string
  readonly before?: string
}

export function registerAuditCommands(program: Command, { runner, nowMs }: CommandTools): void {
  paged(program.command('audit'))
    .description('list who changed what, newest first')
    .option('--actor <name>', 'only changes by the token or user of this name')
    .option('--action <verb>', 'only this action, such as edit')
    .addOption(
      new Option('--resource-kind <kind>', 'only changes of resources of this kind').choices(AUDITED_KINDS),
    )
    .option('--resource <id>', 'only changes of the resource with this id or name')
    .option('--after <time>', `only changes at or after this time, such as ${TIME_BACK}`)
    .option('--before <time>', 'only changes before this time')
    .action((flags: AuditFlags) => {
      const { actor, action, resourceKind, resource, after, before, cursor } = flags
      const query = (): AuditQuery => ({
        actor,
        action,
        resource_kind: resourceKind,
        resource,
        after: timeBack('--after', after, nowMs()),
        before: timeBack('--before', before, nowMs()),
        limit: limitOf(flags),
        cursor,
      })
      return runner.request(flags, async (api) => api.send('listAuditRecords', query()), AUDIT_LIST)
    })
}
