import type { PunctualClient } from '../../../../clients/typescript/src/client.ts'
import { useChange } from '../../api/changes.ts'
import { faultText } from '../../api/faults.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ShownOnce } from './shown-once.tsx'

const create = (api: PunctualClient) => api.createSigningSecret()

/** Makes a signing secret, and shows it as long as it is open. */
export function SecretDialog({ isRotation, onClose }: { readonly isRotation: boolean; onClose(): void }) {
  const make = useChange(create, { isFaultShown: true })
  const secret = make.data?.secret
  if (secret !== undefined) {
    // Another dialog than that of the form, which browsers hold for a while after it was sent.
    return (
      <Dialog key="shown" title="The new signing secret" size="large" isFirm onClose={onClose}>
        <ShownOnce label="Signing secret" text={secret} onClose={onClose}>
          <p>
            {isRotation
              ? 'Both sign from now on. Give the new one to your receivers, one by one; then delete the older one.'
              : 'Calls are signed from now on. Give it to your receivers, which then can refuse what is not signed.'}
          </p>
        </ShownOnce>
      </Dialog>
    )
  }
  return (
    <Dialog title={isRotation ? 'Rotate the signing secret' : 'Make a signing secret'} onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!make.isPending) make.mutate(undefined)
        }}
      >
        {isRotation ? (
          <ol class="steps">
            <li>A new secret is made, and shown once.</li>
            <li>Both sign: receivers with either of them go on.</li>
            <li>You give the new one to your receivers.</li>
            <li>You delete the older one here. Nothing does so by itself.</li>
          </ol>
        ) : (
          <p>Every call of the team is signed with it: jobs, callbacks, and alerts to webhooks of yours.</p>
        )}
        {make.error !== null && (
          <p class="field-fault" role="alert">
            {faultText(make.error)}
          </p>
        )}
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main" isBusy={make.isPending}>
            Make 1 signing secret
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
