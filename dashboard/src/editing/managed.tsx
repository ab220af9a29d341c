import { useRead } from '../api/reads.ts'
import type { ManagedBy } from '../../../clients/typescript/src/client.ts'
import { Badge } from '../ui/text/badge.tsx'
import { TextButton } from '../ui/button.tsx'
import { Code } from '../ui/text/code.tsx'
import { Dialog } from '../ui/overlays/dialog.tsx'
import { Loading, Fault } from '../ui/page/empty.tsx'
import { managerText, whyNoEdit } from './managed-text.ts'
import { Notice } from '../ui/text/notice.tsx'

/** Beside the title of what has a manifest elsewhere; nothing for what has none. */
export function ManagedBadge({ by }: { readonly by: ManagedBy }) {
  return by === null ? null : <Badge tone="plain">Managed by {managerText(by)}</Badge>
}

/** Above settings that have a manifest elsewhere: what comes of an edit, and the way to the manifest. */
export function ManagedNote({ by, onShow }: { readonly by: ManagedBy; onShow(): void }) {
  if (by === null) return null
  return (
    <Notice icon="git" tone="plain">
      {whyNoEdit(by) ?? 'It was applied with kubectl: the next apply overwrites what is changed here.'}{' '}
      <TextButton onClick={onShow}>Show it as YAML</TextButton>
    </Notice>
  )
}

/** The manifest of a queue or a cron, to be copied. */
export function ManifestDialog({
  kind,
  id,
  onClose,
}: {
  readonly kind: 'queue' | 'cron'
  readonly id: number
  onClose(): void
}) {
  const isQueue = kind === 'queue'
  const ofQueue = useRead('readQueueManifest', { queue_id: id }, { isWanted: isQueue })
  const ofCron = useRead('readCronManifest', { cron_id: id }, { isWanted: !isQueue })
  const { data, error, refetch } = isQueue ? ofQueue : ofCron
  return (
    <Dialog title="As YAML" size="large" onClose={onClose}>
      <div class="dialog-body">
        {error !== null && <Fault fault={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <Loading what="the manifest" />}
        {data !== undefined && (
          <Code
            label="Manifest"
            text={data.manifest}
            file={`${kind}-${id}.yaml`}
            note="Without what is the default"
          />
        )}
      </div>
    </Dialog>
  )
}
