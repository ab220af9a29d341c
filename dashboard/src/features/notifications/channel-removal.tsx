import { confirming, useChange } from '../../editing/changes.ts'
import { Confirm } from '../../ui/overlays/dialog.tsx'

export function ChannelRemoval({ channel, onClose }: { readonly channel: string; onClose(): void }) {
  const remove = useChange((api) => api.deleteNotificationChannel({ channel_id: channel }), {
    isFaultShown: true,
    said: () => `Channel ${channel} deleted`,
    onDone: onClose,
  })
  return (
    <Confirm title="Delete a channel?" verb="Delete the channel" {...confirming(remove)} onClose={onClose}>
      <p>
        Alerts are not sent by <strong>{channel}</strong> any more. They are kept on their page all the same.
      </p>
    </Confirm>
  )
}
