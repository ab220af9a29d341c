/** What other features show: asks before one action is done to many jobs, and begins it. */
import { useState } from 'preact/hooks'
import type { Bulk, BulkAction, BulkCreate } from '../../../../../clients/typescript/src/client.ts'
import { useChange } from '../../../editing/changes.ts'
import { at } from '../../../routing/paths.ts'
import { type FilterValues, chipsOf } from '../job-filter.ts'
import { isTypable } from '../../../format/match.ts'
import { formatCount, plural } from '../../../format/numbers.ts'
import { Chips } from '../../../ui/tables/chips.tsx'
import { Confirm } from '../../../ui/overlays/dialog.tsx'
import { useZone } from '../../../ui/text/time.tsx'
import { showToast } from '../../../ui/overlays/toast.tsx'
import { ACTIONS, type BulkTarget } from './bulk-actions.ts'
import './bulk.css'
import { Found } from './found.tsx'
import { targetBody, useBulkPreview } from './preview.ts'
import { RateField, type Rate, rateOf } from './rate-field.tsx'
import { SinceField } from './since-field.tsx'
import { type StopChoice, StopField, stopWhenOf } from './stop-field.tsx'

export function BulkDialog({
  action,
  target,
  isSinceAsked = false,
  onBegun,
  onClose,
}: {
  readonly action: BulkAction
  readonly target: BulkTarget
  /** Whether only those that failed since a time can be meant. */
  readonly isSinceAsked?: boolean
  onBegun?(bulk: Bulk): void
  onClose(): void
}) {
  const { verb, explain, isBad } = ACTIONS[action]
  const zone = useZone()
  const [since, setSince] = useState<string | null>(null)
  const [rate, setRate] = useState<Rate>({ choice: '', other: '' })
  const [stop, setStop] = useState<StopChoice>('')
  const meant = withSince(target, since)
  const preview = useBulkPreview(action, meant)
  const perSecond = rateOf(rate)
  const begin = useBegin((bulk) => {
    onBegun?.(bulk)
    onClose()
  })
  const count = preview.data?.matched ?? null
  const isAtLeast = preview.data?.is_at_least ?? false
  return (
    <Confirm
      title={`${verb} jobs`}
      verb={count === null ? verb : `${verb} ${amount(count, isAtLeast)}`}
      look={isBad ? 'bad' : 'main'}
      {...(action === 'purge' && { typed: typedFor(meant) })}
      isBusy={begin.isPending || preview.isPending}
      isReady={count !== null && (count > 0 || isAtLeast) && perSecond !== 'invalid'}
      fault={begin.error ?? preview.error}
      onConfirm={() => {
        if (perSecond === 'invalid') return
        begin.mutate({ action, ...targetBody(meant), rate: perSecond, stop_when: stopWhenOf(stop) })
      }}
      onClose={onClose}
    >
      {meant.kind === 'filter' && <Chips chips={chipsOf(meant.values, zone)} />}
      <p>{explain}</p>
      {isSinceAsked && <SinceField since={since} onChange={setSince} />}
      <Found preview={preview.data} isPending={preview.isFetching} />
      {(action === 'retry' || action === 'replay') && <StopField choice={stop} onChange={setStop} />}
      {!isBad && <RateField rate={rate} count={count} onChange={setRate} />}
    </Confirm>
  )
}

function useBegin(onBegun: (bulk: Bulk) => void) {
  return useChange((api, body: BulkCreate) => api.createBulk({ body }) as Promise<Bulk>, {
    isFaultShown: true,
    onDone: (bulk) => {
      sayBegun(bulk)
      onBegun(bulk)
    },
  })
}

function withSince(target: BulkTarget, since: string | null): BulkTarget {
  if (target.kind === 'ids' || since === null) return target
  return { kind: 'filter', values: { ...target.values, ended_after: since } }
}

/** Such as `1 job` and `at least 20,000 jobs`. */
function amount(count: number, isAtLeast: boolean): string {
  return isAtLeast ? `at least ${formatCount(count)} jobs` : plural(count, 'job')
}

/** What has to be typed before dead letters are lost. */
function typedFor(target: BulkTarget): string {
  const values: FilterValues = target.kind === 'ids' ? {} : target.values
  const name = values['queue'] ?? values['host'] ?? ''
  return isTypable(name) ? name : 'purge'
}

function sayBegun({ id, action, matched, is_at_least: isAtLeast }: Bulk): void {
  const { verb } = ACTIONS[action]
  showToast({
    tone: 'good',
    text: `${verb}: ${amount(matched, isAtLeast)}, in the background`,
    action: { label: 'Progress', href: at(`/bulk/${id}`) },
  })
}
