import { useState } from 'preact/hooks'
import { useMe } from '../../api/me.ts'
import { Code } from '../../ui/code.tsx'
import { type Option, SelectField } from '../../ui/field.tsx'
import { Panel } from '../../ui/page.tsx'
import { TYPES } from './channel-state.ts'
import { type ChannelType, channelYaml } from './channel-yaml.ts'

const OPTIONS = Object.entries(TYPES).map(([value, label]) => ({ value, label })) as Array<
  Option<ChannelType>
>

const HINTS: Readonly<Record<ChannelType, string>> = {
  email: 'One mail to each member. The mail server is a setting of the installation.',
  slack: 'An incoming webhook of Slack, or of a service that speaks as Slack does.',
  discord: 'A webhook of a Discord channel.',
  webhook: 'A POST with the alert as JSON, signed as the calls of the team are.',
}

/** Channels are settings of the team, which are kept as a resource. */
export function SetUp() {
  const { team } = useMe()
  const [type, setType] = useState<ChannelType>('slack')
  return (
    <Panel title="Set up a channel">
      <div class="stack">
        <p class="channel-text">
          Channels are in the TeamSettings of the team. On Kubernetes, apply it to the namespace {team}; a
          standalone takes it as a file in its folder of resources. List all channels that are wanted: what is
          left out is not told any more.
        </p>
        <div class="channel-kind">
          <SelectField
            label="Goes to"
            hint={HINTS[type]}
            value={type}
            options={OPTIONS}
            onChange={(next) => setType(next)}
          />
        </div>
        <Code label="TeamSettings" text={channelYaml(type)} file="team-settings.yaml" />
      </div>
    </Panel>
  )
}
