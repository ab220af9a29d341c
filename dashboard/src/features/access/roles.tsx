import { type Right, useMe } from '../../session/me.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { Code } from '../../ui/text/code.tsx'
import { Panel } from '../../ui/page/page.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import './access.css'

type Permission = readonly [right: Right, allows: string, scopes: string, lowestRole: string]

const PERMISSIONS: readonly Permission[] = [
  ['read', 'See everything but payloads', 'read, operate, admin', 'viewer'],
  ['payloads', 'See payloads, headers and calls', 'operate, admin', 'operator'],
  ['operate', 'Retry, replay, cancel, pause, run, maintain; the audit log', 'operate, admin', 'operator'],
  ['push', 'Push jobs', 'push, admin', 'editor'],
  ['purge', 'Delete for good what has ended', 'operate, admin', 'editor'],
  ['edit', 'Change and delete queues and crons', 'admin', 'editor'],
  ['admin', 'Tokens and signing secrets', 'admin', 'admin'],
]

/** Who may do what. RBAC of the cluster says who has a role: Punctual keeps no list of people. */
export function Roles() {
  const { may, team } = useMe()
  const columns: ReadonlyArray<Column<Permission>> = [
    { head: 'Permission', cell: ([right]) => <strong>{right}</strong> },
    {
      head: 'You',
      cell: ([right]) => <Badge tone={may[right] ? 'good' : 'plain'}>{may[right] ? 'Yes' : 'No'}</Badge>,
    },
    { head: 'Allows to', isWide: true, cell: ([, allows]) => <span class="access-wrap">{allows}</span> },
    { head: 'Scopes of a token', isExtra: true, cell: ([, , scopes]) => scopes },
    { head: 'Roles from', isExtra: true, cell: ([, , , role]) => role },
  ]
  return (
    <>
      <Panel isFlush title="Permissions">
        <Table caption="Permissions" rows={PERMISSIONS} columns={columns} keyOf={([right]) => right} />
      </Panel>
      <Code
        label="Give somebody a role"
        note="By RBAC of the cluster. The chart names roles after its namespace and release."
        text={`kubectl -n ${team} create rolebinding ann-operator --clusterrole=punctual-punctual-operator --user=ann@example.com`}
      />
    </>
  )
}
