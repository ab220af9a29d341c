import type { UseQueryResult } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import './empty.css'
import { Button } from '../button.tsx'
import { faultText } from '../../format/faults.ts'
import { Icon, type IconName } from '../icon.tsx'

/** In place of a list without rows. Say whether there is nothing yet or nothing that matches, and what to do. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <Icon name={icon} size={28} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** In place of what could not be read. */
export function Fault({ fault, onRetry }: { readonly fault: unknown; onRetry?(): void }) {
  return (
    <div class="empty" data-tone="bad" role="alert">
      <Icon name="warning" size={28} />
      <p>{faultText(fault)}</p>
      {onRetry !== undefined && (
        <Button icon="retry" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** While something is read for the first time. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Reading {what} …</span>
      <i />
      <i />
      <i />
    </div>
  )
}

/** Says that a query is loading for the first time, or why it failed; nothing once it has an answer. */
export function QueryStatus({ query, what }: { readonly query: Query; readonly what: string }) {
  if (query.isPending) return <Loading what={what} />
  return query.isError ? <Fault fault={query.error} onRetry={() => void query.refetch()} /> : null
}

type Query = Pick<UseQueryResult, 'isPending' | 'isError' | 'error' | 'refetch'>
