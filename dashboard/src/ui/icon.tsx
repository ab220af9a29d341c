export type IconName =
  | 'overview'
  | 'jobs'
  | 'queue'
  | 'cron'
  | 'dead'
  | 'alert'
  | 'bulk'
  | 'window'
  | 'bell'
  | 'key'
  | 'audit'
  | 'send'
  | 'search'
  | 'pause'
  | 'play'
  | 'stop'
  | 'retry'
  | 'fire'
  | 'trash'
  | 'edit'
  | 'copy'
  | 'download'
  | 'wrap'
  | 'plus'
  | 'close'
  | 'check'
  | 'chevron'
  | 'back'
  | 'down'
  | 'more'
  | 'sun'
  | 'moon'
  | 'screen'
  | 'menu'
  | 'user'
  | 'logout'
  | 'warning'
  | 'info'
  | 'external'
  | 'git'
  | 'filter'
  | 'command'

/** A picture of index.html, beside a text that says the same: it is hidden from screen readers. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="icon" width={size} height={size} aria-hidden="true">
      <use href={`#icon-${name}`} />
    </svg>
  )
}
