import { useMe } from '../../session/me.ts'
import { Code } from '../../ui/text/code.tsx'
import { Panel } from '../../ui/page/page.tsx'
import { CHANNELS_YAML } from './channels-yaml.ts'

/** Channels are settings of the team, which are kept as a resource. */
export function SetUp() {
  const { team } = useMe()
  return (
    <Panel title="Channels as a resource">
      <div class="stack">
        <p class="channel-text">
          Channels are part of the TeamSettings of the namespace {team}, and may be kept with other manifests;
          a standalone takes them as a file in its folder of resources. A channel that you leave out gets no
          more alerts.
        </p>
        <Code label="TeamSettings" text={CHANNELS_YAML} file="team-settings.yaml" />
      </div>
    </Panel>
  )
}
