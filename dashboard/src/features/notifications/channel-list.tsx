import type { ChannelState, ChannelTest } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../editing/changes.ts'
import { textOf } from '../../format/values/known-values.ts'
import { useMay } from '../../session/me.ts'
import { formatDuration } from '../../format/times.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/text/time.tsx'
import { channelWord, toldOf, TYPES } from './channel-state.ts'
import './channels.css'

interface TestsProps {
  /** The results of the tests made on this page, by channel. */
  readonly results: ReadonlyMap<string, ChannelTest>
  onTested(results: readonly ChannelTest[]): void
}

export function ChannelList({
  channels,
  results,
  onTested,
  onDelete,
}: TestsProps & { readonly channels: readonly ChannelState[]; onDelete(channel: string): void }) {
  const mayAdmin = useMay('admin')
  return (
    <ul class="channels">
      {channels.map((channel) => (
        <li key={channel.channel}>
          <div class="channel-name">
            <strong>{channel.channel}</strong>
            <span class="soft">
              {textOf(TYPES, channel.type)}: {toldOf(channel.alert_types)}
            </span>
          </div>
          <State channel={channel} />
          <Answer channel={channel} result={results.get(channel.channel)} />
          <div class="channel-actions">
            <Test channel={channel.channel} onTested={onTested} />
            {mayAdmin && (
              <Button
                look="bare"
                icon="trash"
                label={`Delete ${channel.channel}`}
                onClick={() => onDelete(channel.channel)}
              />
            )}
          </div>
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

/** Sends a test message to one channel, or to all (null). */
export function useTest(onTested: TestsProps['onTested']) {
  return useChange(
    (api, channel: string | null) => api.testNotifications({ body: channel === null ? {} : { channel } }),
    { onDone: ({ results }) => onTested(results) },
  )
}
