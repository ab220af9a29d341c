import { DialogForm } from '../../../ui/dialog.tsx'
import { Notice } from '../../../ui/notice.tsx'
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
      {news.length > 0 && <News news={news} />}
      <CronForm {...form} />
    </DialogForm>
  )
}

function News({ news }: { readonly news: readonly string[] }) {
  return (
    <Notice icon="warning" tone="warn">
      Nothing is saved yet: somebody has changed the cron since you opened it. What you have not touched is
      shown as it is now; look again, and save.
      {news.map((line) => (
        <bdi key={line} class="cron-news">
          {line}
        </bdi>
      ))}
    </Notice>
  )
}
