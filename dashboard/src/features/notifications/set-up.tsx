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
          Channels are in the TeamSettings of the team. On Kubernetes, apply it to the namespace {team}; a
          standalone takes it as a file in its folder of resources. List all that are wanted: what is left out
          is not told any more.
        </p>
        <Code label="One channel of each type" text={CHANNELS_YAML} file="team-settings.yaml" />
      </div>
    </Panel>
  )
}
