import { useState } from 'preact/hooks'
import type { ChannelTest } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../api/me.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { plural } from '../../format/numbers.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Empty, QueryStatus } from '../../ui/empty.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { ChannelList, useTest } from './channel-list.tsx'
import { SetUp } from './set-up.tsx'

/** How the team is told of its alerts, and whether that works. */
export function Notifications() {
  const team = useRead('readTeam', {})
  const mayOperate = useMay('operate')
  const [results, setResults] = useState<ReadonlyMap<string, ChannelTest>>(new Map())
  const onTested = (tests: readonly ChannelTest[]): void =>
    setResults((before) => new Map([...before, ...tests.map((test) => [test.channel, test] as const)]))
  const testAll = useTest(onTested)
  const channels = team.data?.notifications ?? []
  return (
    <Page
      title="Notifications"
      actions={
        <>
          <LinkButton icon="alert" href={at('/alerts')}>
            Alerts
          </LinkButton>
          {mayOperate && channels.length > 1 && (
            <Button icon="send" isBusy={testAll.isPending} onClick={() => testAll.mutate(null)}>
              Test {plural(channels.length, 'channel')}
            </Button>
          )}
        </>
      }
    >
      <Panel isFlush title="Channels">
        <QueryStatus query={team} what="channels" />
        {team.isSuccess && channels.length === 0 && (
          <Empty icon="bell" title="No channels yet">
            <p>
              Alerts are kept on their page, and nobody is told of them. A channel sends them by e-mail, to
              Slack or Discord, or to a webhook of yours.
            </p>
          </Empty>
        )}
        {channels.length > 0 && <ChannelList channels={channels} results={results} onTested={onTested} />}
      </Panel>
      <SetUp />
    </Page>
  )
}
