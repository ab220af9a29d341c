import { confirming, useChange } from '../../editing/changes.ts'
import { Confirm } from '../../ui/overlays/dialog.tsx'
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
      verb="Make the signing secret"
      look="main"
      {...confirming(make)}
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
