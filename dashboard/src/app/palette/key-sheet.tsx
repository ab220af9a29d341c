import { Dialog } from '../../ui/overlays/dialog.tsx'
import './key-sheet.css'

export const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent)
/** The keys of the palette, as the keyboard of the viewer has them. */
export const PALETTE_KEYS = IS_MAC ? '⌘ K' : 'Ctrl K'

const KEYS: ReadonlyArray<readonly [keys: string, what: string]> = [
  [PALETTE_KEYS, 'Go anywhere, do anything'],
  ['/', 'Search on this screen, or jobs'],
  ['j  k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['x', 'Choose the row'],
  ['Shift click', 'Choose all rows from the one before'],
  ['Esc', 'Leave a dialog, a search, a row or a choice'],
  ['?', 'These keys'],
]

export function KeySheet({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys dialog-body">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
