import { useState } from 'preact/hooks'
import { confirming, useChange } from '../../editing/changes.ts'
import { useMe } from '../../session/me.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { QueryStatus } from '../../ui/page/empty.tsx'
import { Fact, Facts, Panel } from '../../ui/page/page.tsx'
import { Time } from '../../ui/text/time.tsx'
import './access.css'
import { OwnSessions, TeamSessions } from './session-table.tsx'

/** Who is logged in, until when and where, and how to end these logins. */
export function Sessions() {
  const session = useRead('readSession', {}, { isLive: false })
  const { subject, kind, roles, scopes, queues, may } = useMe()
  const [isAsking, setIsAsking] = useState(false)
  const { data } = session
  return (
    <>
      <Panel
        title="You"
        actions={
          <Button icon="logout" onClick={() => setIsAsking(true)}>
            Log out everywhere
          </Button>
        }
      >
        <QueryStatus query={session} what="the session" />
        {data !== undefined && (
          <Facts>
            <Fact name={kind === 'token' ? 'Token' : 'User'}>{subject}</Fact>
            <Fact name={kind === 'token' ? 'Scopes' : 'Roles'}>
              {(kind === 'token' ? scopes : roles).join(', ') || 'all'}
            </Fact>
            <Fact name="Queues">{queues?.join(', ') ?? 'all'}</Fact>
            <Fact name="Logged in">
              <Time at={data.created_at} form="stamp" />
            </Fact>
            <Fact name="Ends if unused until">
              <Time at={data.idle_expires_at} form="stamp" />
            </Fact>
            <Fact name="Ends in any case">
              <Time at={data.expires_at} form="stamp" />
            </Fact>
          </Facts>
        )}
        {isAsking && <Everywhere onClose={() => setIsAsking(false)} />}
      </Panel>
      <OwnSessions />
      {may.admin && queues === null && <TeamSessions />}
    </>
  )
}

function Everywhere({ onClose }: { onClose(): void }) {
  const { subject } = useMe()
  const end = useChange((api) => api.endSession({ everywhere: true }), {
    isFaultShown: true,
    onDone: () => window.location.assign(at('/')),
  })
  return (
    <Confirm title="Log out everywhere?" verb="End every session" {...confirming(end)} onClose={onClose}>
      <p>
        Every session of <strong class="token-doomed">{subject}</strong> ends, in every browser, this one too.
      </p>
    </Confirm>
  )
}
