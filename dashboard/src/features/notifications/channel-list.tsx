import type { ChannelState, ChannelTest } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../api/changes.ts'
import { useMay } from '../../api/me.ts'
import { formatDuration } from '../../format/times.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/time.tsx'
import { channelWord, toldOf, TYPES } from './channel-state.ts'
import './channels.css'

interface TestsProps {
  /** Of the tests made on this page, by channel. */
  readonly results: ReadonlyMap<string, ChannelTest>
  onTested(results: readonly ChannelTest[]): void
}

export function ChannelList({
  channels,
  results,
  onTested,
}: TestsProps & { readonly channels: readonly ChannelState[] }) {
  return (
    <ul class="channels">
      {channels.map((channel) => (
        <li key={channel.channel}>
          <div class="channel-name">
            <strong>{channel.channel}</strong>
            <span class="soft">
              {TYPES[channel.type]}: {toldOf(channel.alert_types)}
            </span>
          </div>
          <State channel={channel} />
          <Answer channel={channel} result={results.get(channel.channel)} />
          <Test channel={channel.channel} onTested={onTested} />
        </li>
      ))}
    </ul>
  )
}

function State({ channel }: { readonly channel: ChannelState }) {
  const { tone, word } = channelWord(channel)
  return (
    <div>
      <Badge tone={tone}>{word}</Badge>
      {channel.failing_since !== null && (
        <div class="soft">
          since <Time at={channel.failing_since} />
        </div>
      )}
    </div>
  )
}

function Answer({
  channel,
  result,
}: {
  readonly channel: ChannelState
  readonly result: ChannelTest | undefined
}) {
  const said = result?.answer ?? channel.last_answer
  return (
    <div class="channel-answer" role="status">
      {result === undefined ? (
        <span class="soft">Last answer</span>
      ) : (
        <span data-ok={result.ok}>
          Test {result.ok ? 'taken' : 'not taken'}, {formatDuration(result.took_ms)}
        </span>
      )}
      <span>{said ?? 'None yet'}</span>
    </div>
  )
}

function Test({ channel, onTested }: Pick<TestsProps, 'onTested'> & { readonly channel: string }) {
  const mayOperate = useMay('operate')
  const test = useTest(onTested)
  return (
    <Button
      icon="send"
      label={`Send a test message to ${channel}`}
      disabled={!mayOperate && 'It needs the permission to operate.'}
      isBusy={test.isPending}
      onClick={() => test.mutate(channel)}
    >
      Test
    </Button>
  )
}

/** Of one channel, or of all (null). */
export function useTest(onTested: TestsProps['onTested']) {
  return useChange(
    (api, channel: string | null) => api.testNotifications({ body: channel === null ? {} : { channel } }),
    { onDone: ({ results }) => onTested(results) },
  )
}
