import type { Cron } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../session/me.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { Code } from '../../ui/text/code.tsx'
import { Fact, Facts, Panel } from '../../ui/page/page.tsx'
import { CRON_TEXTS } from './form/cron-fields.ts'
import { Verbatim } from '../../ui/text/verbatim.tsx'

/** What is set, in words. */
export function CronSettings({ cron }: { readonly cron: Cron }) {
  return (
    <Panel title="Settings">
      <div class="stack">
        {cron.warnings.map((warning) => (
          <p key={warning} class="field-fault">
            {warning}
          </p>
        ))}
        <Facts>
          <Fact name="Schedule">
            {cron.description}
            <br />
            <code>{cron.cron_expression}</code> <span class="soft">in {cron.time_zone}</span>
          </Fact>
          <Fact name="Request">
            <span class="soft">{cron.method}</span> <Verbatim text={cron.url} />
          </Fact>
          <Fact name="Queue">
            {cron.queue === null ? 'None: the next tick is the retry' : <QueueLink name={cron.queue} />}
          </Fact>
          {Object.values(CRON_TEXTS).map(
            ({ label, words }) =>
              words !== undefined && (
                <Fact key={label} name={label}>
                  {words(cron)}
                </Fact>
              ),
          )}
        </Facts>
        <Sent cron={cron} />
      </div>
    </Panel>
  )
}

/** A queue is there once something has been pushed to it. */
function QueueLink({ name }: { readonly name: string }) {
  const found = useRead('listQueues', { name, limit: 1 }, { isLive: false })
  const id = found.data?.queues[0]?.queue_id
  const shown = <Verbatim text={name} />
  return id === undefined ? shown : <a href={at(`/queues/${id}`)}>{shown}</a>
}

function Sent({ cron: { headers, payload } }: { readonly cron: Cron }) {
  const isMasked = !useMay('payloads')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  if (lines.length === 0 && payload === null) return null
  if (isMasked) return <p class="soft">Headers and payload are hidden from you.</p>
  return (
    <>
      {lines.length > 0 && <Code label="Headers" text={lines.join('\n')} />}
      {payload !== null && <Code label="Payload" text={payload} file="payload.txt" />}
    </>
  )
}
