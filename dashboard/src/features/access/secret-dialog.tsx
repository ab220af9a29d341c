import { useChange } from '../../api/changes.ts'
import { Confirm } from '../../ui/dialog.tsx'
import type { Made } from './shown-once.tsx'

export function SecretDialog({
  isRotation,
  onMade,
  onClose,
}: {
  /** There is one already. */
  readonly isRotation: boolean
  onMade(made: Made): void
  onClose(): void
}) {
  const make = useChange((api) => api.createSigningSecret(), {
    isFaultShown: true,
    onDone: ({ secret = '' }) =>
      onMade({ label: 'Signing secret', text: secret, hint: 'Then give it to your receivers.' }),
  })
  return (
    <Confirm
      title={isRotation ? 'Rotate the signing secret' : 'Make a signing secret'}
      verb="Make 1 signing secret"
      look="main"
      isBusy={make.isPending}
      fault={make.error}
      onConfirm={() => make.mutate(undefined)}
      onClose={onClose}
    >
      <p>
        {isRotation
          ? 'Both sign until you delete the older one here, when all receivers have the new one.'
          : 'Every call of the team is signed with it: jobs, callbacks, and alerts to webhooks.'}
      </p>
    </Confirm>
  )
}
