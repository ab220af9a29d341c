import type { Cron } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../session/me.ts'
import { useRead } from '../../api/reads.ts'
import { Notice } from '../../ui/text/notice.tsx'
import { Time } from '../../ui/text/time.tsx'

/** Loud, and with who did it and when, where that is recorded and may be seen. */
export function PausedNotice({ cron }: { readonly cron: Cron }) {
  const mayAudit = useMay('operate')
  const audit = useRead(
    'listAuditRecords',
    { resource_kind: 'cron', resource: String(cron.id), action: 'pause', limit: 1 },
    { isWanted: mayAudit },
  )
  const record = audit.data?.records[0]
  return (
    <Notice icon="pause" tone="warn">
      <strong>Paused: it does not tick.</strong>{' '}
      {record !== undefined && (
        <>
          {record.actor.name} paused it <Time at={record.at} />.{' '}
        </>
      )}
      When it is resumed, ticks of the pause are not run.
    </Notice>
  )
}
