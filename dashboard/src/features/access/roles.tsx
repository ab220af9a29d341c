import { type Right, useMe } from '../../api/me.ts'
import { Badge } from '../../ui/badge.tsx'
import { Code } from '../../ui/code.tsx'
import { Fact, Facts, Panel } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import './access.css'

interface Permission {
  readonly right: Right
  readonly allows: string
  readonly scopes: string
  /** The lowest of the roles that has it. */
  readonly role: string
}

const PERMISSIONS: readonly Permission[] = [
  {
    right: 'read',
    allows: 'See queues, jobs, crons, alerts and windows',
    scopes: 'read, operate, admin',
    role: 'viewer',
  },
  {
    right: 'payloads',
    allows: 'See payloads, headers and calls unmasked',
    scopes: 'operate, admin',
    role: 'operator',
  },
  {
    right: 'operate',
    allows: 'Retry, replay, cancel, pause, resume, run; alerts and windows; the audit log',
    scopes: 'operate, admin',
    role: 'operator',
  },
  { right: 'push', allows: 'Push jobs, and replay them with changes', scopes: 'push, admin', role: 'editor' },
  { right: 'purge', allows: 'Delete for good what has ended', scopes: 'operate, admin', role: 'editor' },
  { right: 'edit', allows: 'Create, change and delete queues and crons', scopes: 'admin', role: 'editor' },
  {
    right: 'admin',
    allows: 'Tokens, signing secrets, and what else gives access',
    scopes: 'admin',
    role: 'admin',
  },
]

/** Who may do what, and how somebody gets to. */
export function Roles() {
  return (
    <>
      <Panel title="You">
        <You />
      </Panel>
      <Panel isFlush title="Permissions">
        <Permissions />
      </Panel>
      <Panel title="Give somebody a role">
        <Give />
      </Panel>
    </>
  )
}

function You() {
  const { subject, kind, team, roles, scopes, queues, expires_at: expiresAt } = useMe()
  return (
    <Facts>
      <Fact name={kind === 'token' ? 'Logged in with the token' : 'Logged in as'}>{subject}</Fact>
      <Fact name="Team">{team}</Fact>
      {kind === 'user' ? (
        <Fact name="Roles">{roles.join(', ') || 'none'}</Fact>
      ) : (
        <Fact name="Scopes">{scopes.join(', ') || 'all'}</Fact>
      )}
      <Fact name="Queues">{queues === null ? 'all' : queues.join(', ')}</Fact>
      <Fact name="Expires">
        <Time at={expiresAt} form="stamp" absent="Never" />
      </Fact>
    </Facts>
  )
}

function Permissions() {
  const { may } = useMe()
  const columns: ReadonlyArray<Column<Permission>> = [
    { head: 'Permission', cell: ({ right }) => <strong>{right}</strong> },
    {
      head: 'You',
      cell: ({ right }) => (may[right] ? <Badge tone="good">Yes</Badge> : <Badge tone="plain">No</Badge>),
    },
    { head: 'Allows to', isWide: true, cell: ({ allows }) => <span class="access-wrap">{allows}</span> },
    { head: 'Scopes of a token', isExtra: true, cell: ({ scopes }) => scopes },
    { head: 'Roles from', isExtra: true, cell: ({ role }) => role },
  ]
  return <Table caption="Permissions" rows={PERMISSIONS} columns={columns} keyOf={({ right }) => right} />
}

/** RBAC of the cluster says who has a role: Punctual keeps no list of people. */
function Give() {
  const { team } = useMe()
  return (
    <div class="stack">
      <p class="access-text">
        People of the cluster, or of an identity provider, have their role by RBAC in the namespace of the
        team, or by the map of groups that the installation has. <code>--group</code> and{' '}
        <code>--serviceaccount</code> give it to others than a user. The chart names its roles after its
        namespace and release; these are for both called punctual.
      </p>
      <Code
        label="In a terminal"
        text={[
          `kubectl -n ${team} create rolebinding ann-operator \\`,
          '  --clusterrole=punctual-punctual-operator --user=ann@example.com',
          'kubectl get clusterroles -l app.kubernetes.io/name=punctual # all of them',
        ].join('\n')}
      />
    </div>
  )
}
