import { useMe } from '../../api/me.ts'
import { Code } from '../../ui/code.tsx'
import { Panel } from '../../ui/page.tsx'
import { CHANNELS_YAML } from './channels-yaml.ts'

/** Channels are settings of the team, which are kept as a resource. */
export function SetUp() {
  const { team } = useMe()
  return (
    <Panel title="Set up channels">
      <div class="stack">
        <p class="channel-text">
          Apply the TeamSettings to the namespace {team}; a standalone takes them as a file in its folder of
          resources. What is left out is not told any more.
        </p>
        <Code label="TeamSettings" text={CHANNELS_YAML} file="team-settings.yaml" />
      </div>
    </Panel>
  )
}
