import { DialogForm } from '../../../ui/dialog.tsx'
import { CronForm, type CronFormProps } from './cron-form.tsx'

interface EditorProps extends CronFormProps {
  /** What somebody else changed while this was typed. */
  readonly news?: readonly string[]
  readonly verb: string
  readonly isReady?: boolean
  readonly isBusy: boolean
  onSave(): void
  onClose(): void
}

/** The form of a cron with its buttons. */
export function CronEditor({
  news = [],
  verb,
  isReady = true,
  isBusy,
  onSave,
  onClose,
  ...form
}: EditorProps) {
  const { mistakes, fault } = form
  return (
    <DialogForm
      {...{ verb, isBusy, fault, onSave, onClose }}
      isReady={isReady && Object.keys(mistakes).length === 0}
    >
      <CronForm {...form} />
      {news.length > 0 && <News news={news} />}
    </DialogForm>
  )
}

function News({ news }: { readonly news: readonly string[] }) {
  return (
    <div class="cron-conflict" role="alert">
      <strong>Somebody else has changed this cron meanwhile. It is now:</strong>
      <ul>
        {news.map((line) => (
          <li key={line}>
            <bdi>{line}</bdi>
          </li>
        ))}
      </ul>
      <span>
        What you typed stands in the form, and the rest is as it is now. Look at it again, then save.
      </span>
    </div>
  )
}
