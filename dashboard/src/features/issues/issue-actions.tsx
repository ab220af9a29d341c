import { useState } from 'preact/hooks'
import type { Issue, PunctualClient } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../editing/changes.ts'
import { useMay, useMayBulk } from '../../session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuItem } from '../../ui/overlays/menu.tsx'
// The dialog is shown wherever jobs are replayed.
import { BulkDialog } from '../jobs/bulk/bulk-dialog.tsx'
import { deadLettersOf, failureOf } from './issue-text.ts'

const HOUR_MS = 3_600_000
const SPANS = [
  { hours: 1, label: '1 hour' },
  { hours: 24, label: '24 hours' },
  { hours: 7 * 24, label: '7 days' },
]

interface Asked {
  readonly name: 'acknowledge' | 'mute' | 'resolve' | 'reopen'
  /** How long a mute lasts. */
  readonly hours?: number
}

const SAID: Readonly<Record<Asked['name'], string>> = {
  acknowledge: 'acknowledged',
  mute: 'muted',
  resolve: 'resolved',
  reopen: 'open again',
}

function send(api: PunctualClient, issueId: string, { name, hours = 0 }: Asked): Promise<Issue> {
  const input = { issue_id: issueId }
  if (name === 'acknowledge') return api.acknowledgeIssue(input)
  if (name === 'resolve') return api.resolveIssue(input)
  if (name === 'reopen') return api.reopenIssue(input)
  const until = new Date(Date.now() + hours * HOUR_MS).toISOString()
  return api.muteIssue({ ...input, body: { until } })
}

/** What can be done about an issue. */
export function IssueActions({ issue }: { readonly issue: Issue }) {
  const mayOperate = useMay('operate')
  const change = useChange((api, asked: Asked) => send(api, issue.id, asked), {
    said: (answer, { name }) => `${failureOf(answer)} is ${SAID[name]}`,
  })
  if (!mayOperate) return <Replay issue={issue} />
  const isOpen = issue.state === 'open'
  const items: MenuItem[] = [
    ...SPANS.map(({ hours, label }) => ({
      label: `Mute for ${label}`,
      icon: 'bell' as const,
      run: () => change.mutate({ name: 'mute' as const, hours }),
    })),
    ...(issue.state === 'resolved'
      ? []
      : [
          {
            label: 'Resolve',
            icon: 'check' as const,
            run: () => change.mutate({ name: 'resolve' as const }),
          },
        ]),
    ...(isOpen
      ? []
      : [{ label: 'Reopen', icon: 'back' as const, run: () => change.mutate({ name: 'reopen' as const }) }]),
  ]
  return (
    <>
      <Replay issue={issue} />
      {isOpen && (
        <Button icon="check" isBusy={change.isPending} onClick={() => change.mutate({ name: 'acknowledge' })}>
          Acknowledge
        </Button>
      )}
      <Menu label="More" items={items} />
    </>
  )
}

/** Replays the dead letters of the issue, where there are any. */
export function Replay({ issue }: { readonly issue: Issue }) {
  const mayBulk = useMayBulk()
  const [isAsking, setIsAsking] = useState(false)
  const values = deadLettersOf(issue)
  if (!mayBulk || values === null) return null
  return (
    <>
      <Button icon="retry" onClick={() => setIsAsking(true)}>
        Replay
      </Button>
      {isAsking && (
        <BulkDialog
          action="replay"
          target={{ kind: 'filter', values: { ...values, status: 'dead_lettered' } }}
          isSinceAsked
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  )
}
