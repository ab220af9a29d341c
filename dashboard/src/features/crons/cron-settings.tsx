import type { Cron } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../api/me.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { plural } from '../../format/numbers.ts'
import { formatSeconds } from '../../format/times.ts'
import { Code } from '../../ui/code.tsx'
import { Fact, Facts, Panel } from '../../ui/page.tsx'

const MISSED: Readonly<Record<Cron['missed_run_policy'], string>> = {
  latest: 'The last one runs late',
  all: 'All run late, at most 100',
  skip: 'They do not run',
}

/** What is set, in words. */
export function CronSettings({ cron }: { readonly cron: Cron }) {
  const { description, cron_expression: expression, success_assertions: assertions } = cron
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
            {description}
            <br />
            <code>{expression}</code> <span class="soft">in {cron.time_zone}</span>
          </Fact>
          <Fact name="Request">
            <span class="soft">{cron.method}</span> <bdi>{cron.url}</bdi>
          </Fact>
          <Fact name="Queue">
            {cron.queue === null ? 'None: the next tick is the retry' : <QueueLink name={cron.queue} />}
          </Fact>
          <Fact name="While a run has not ended">
            {cron.concurrency_policy === 'forbid' ? 'Ticks are skipped' : 'Others may start'}
          </Fact>
          <Fact name="Missed ticks">{MISSED[cron.missed_run_policy]}</Fact>
          <Fact name="Starts at the latest">
            {cron.starting_deadline_seconds === null
              ? cron.missed_run_policy === 'skip'
                ? '60 s after its tick'
                : 'Never too late'
              : `${formatSeconds(cron.starting_deadline_seconds)} after its tick`}
          </Fact>
          <Fact name="Jitter">
            {cron.jitter_seconds === 0
              ? 'None: on the tick'
              : `Up to ${formatSeconds(cron.jitter_seconds)} later, always the same`}
          </Fact>
          <Fact name="Timeout">{formatSeconds(cron.timeout_seconds)}</Fact>
          <Fact name="Failure alert after">{plural(cron.alert_threshold, 'failure')} in a row</Fact>
          <Fact name="Succeeds with">
            {assertions.length === 0
              ? `A 2xx status${cron.queue === null ? '' : ', and what the queue asserts'}`
              : ['2xx', ...assertions.map(({ type, value }) => `${type.replaceAll('_', ' ')} ${value}`)].join(
                  ', ',
                )}
          </Fact>
          {cron.callback_url !== null && <Fact name="Callback">{cron.callback_url}</Fact>}
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
  return id === undefined ? <bdi>{name}</bdi> : <a href={at(`/queues/${id}`)}>{name}</a>
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
