import { useMe } from '../../session/me.ts'
import { at } from '../../routing/paths.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { Page, Panel } from '../../ui/page/page.tsx'
import { Tabs } from '../../ui/page/tabs.tsx'
import { Roles } from './roles.tsx'
import { Sessions } from './sessions.tsx'
import { SigningSecrets } from './signing-secrets.tsx'
import { Tokens } from './tokens.tsx'

const TABS = [
  { id: 'tokens', label: 'Tokens' },
  { id: 'secrets', label: 'Signing secrets' },
  { id: 'roles', label: 'Roles' },
  { id: 'sessions', label: 'Sessions' },
].map((tab) => ({ ...tab, href: at('/access', { tab: tab.id }) }))

/** Who and what may use the team, and how receivers know its calls. */
export function Access() {
  const { may, queues } = useMe()
  const { values } = useUrlQuery()
  const current = TABS.find(({ id }) => id === values['tab'])?.id ?? (may.admin ? 'tokens' : 'roles')
  return (
    <Page title="Access">
      <Tabs label="Parts of access" tabs={TABS} current={current} />
      {current === 'tokens' && (may.admin ? <Tokens /> : <ForAdmins />)}
      {current === 'secrets' && (may.admin && queues === null ? <SigningSecrets /> : <ForAdmins />)}
      {current === 'roles' && <Roles />}
      {current === 'sessions' && <Sessions />}
    </Page>
  )
}

function ForAdmins() {
  return (
    <Panel>
      <Empty icon="key" title="You may not see this">
        <p>It needs the permission admin, for all queues.</p>
      </Empty>
    </Panel>
  )
}
