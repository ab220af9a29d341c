import { useMe } from '../../api/me.ts'
import { at } from '../../app/paths.ts'
import { useUrlQuery } from '../../app/url-query.ts'
import { Empty } from '../../ui/empty.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
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
      {current === 'tokens' && (may.admin ? <Tokens /> : <ForAdmins what="tokens" />)}
      {current === 'secrets' &&
        (may.admin && queues === null ? <SigningSecrets /> : <ForAdmins what="signing secrets" />)}
      {current === 'roles' && <Roles />}
      {current === 'sessions' && <Sessions />}
    </Page>
  )
}

function ForAdmins({ what }: { readonly what: string }) {
  const { may } = useMe()
  return (
    <Panel>
      <Empty icon="key" title={`You may not see the ${what} of the team`}>
        <p>
          {may.admin
            ? 'They are of the whole team, and your token is limited to some queues.'
            : 'It needs the permission admin.'}
        </p>
        <a href={at('/access', { tab: 'roles' })}>What you may do</a>
      </Empty>
    </Panel>
  )
}
