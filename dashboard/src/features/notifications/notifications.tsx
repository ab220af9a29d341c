import { useState } from 'preact/hooks'
import type { ChannelTest } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../session/me.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { plural } from '../../format/numbers.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { Page, Panel } from '../../ui/page/page.tsx'
import { useAskedForm } from '../../routing/asked-form.ts'
import { ChannelDialog } from './channel-dialog.tsx'
import { ChannelList, useTest } from './channel-list.tsx'
import { ChannelRemoval } from './channel-removal.tsx'
import { SetUp } from './set-up.tsx'

const CHANNELS_MAX = 10

/** How the team is told of its alerts, and whether that works. */
export function Notifications() {
  const team = useRead('readTeam', {})
  const mayOperate = useMay('operate')
  const mayAdmin = useMay('admin')
  const [isAdding, setIsAdding] = useAskedForm('channel')
  const [doomed, setDoomed] = useState<string | null>(null)
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
          {mayAdmin && (
            <Button
              look="main"
              icon="plus"
              disabled={channels.length >= CHANNELS_MAX && 'A team has at most 10 channels.'}
              onClick={() => setIsAdding(true)}
            >
              Add a channel
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
        {channels.length > 0 && (
          <ChannelList channels={channels} results={results} onTested={onTested} onDelete={setDoomed} />
        )}
      </Panel>
      {isAdding && mayAdmin && <ChannelDialog onClose={() => setIsAdding(false)} />}
      {doomed !== null && <ChannelRemoval channel={doomed} onClose={() => setDoomed(null)} />}
      <SetUp />
    </Page>
  )
}
