import { useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import './code.css'
import { copyText, saveText } from './hand-over.ts'
import { visible } from '../../format/visible.ts'

/** A longer text is cut on the screen; copy and download have all of it. */
const SHOWN_CHARACTERS_MAX = 100_000

/** A body, headers or a command, as it is: with wrap, copy and download. */
export function Code({
  label,
  text,
  file,
  note,
}: {
  readonly label: string
  readonly text: string
  /** The name of the downloaded file; absent = no download. */
  readonly file?: string
  /** What the reader should know of the text, such as that it was cut. */
  readonly note?: string
}) {
  const [isWrapped, setIsWrapped] = useState(true)
  const isLong = text.length > SHOWN_CHARACTERS_MAX
  const shown = visible(text.slice(0, SHOWN_CHARACTERS_MAX))
  return (
    <section class="code" aria-label={label}>
      <header>
        <h3>{label}</h3>
        {note !== undefined && <span class="soft">{note}</span>}
        <span class="code-actions">
          <Button
            look="bare"
            icon="wrap"
            label="Wrap lines"
            isPressed={isWrapped}
            onClick={() => setIsWrapped(!isWrapped)}
          />
          <Button
            look="bare"
            icon="copy"
            label={`Copy: ${label}`}
            onClick={() => void copyText(text, label)}
          />
          {file !== undefined && (
            <Button
              look="bare"
              icon="download"
              label={`Download: ${label}`}
              onClick={() => saveText(text, file)}
            />
          )}
        </span>
      </header>
      <pre data-wrapped={isWrapped} tabIndex={0}>
        <code>{isLong ? `${shown}\n… (the rest is in the download)` : shown}</code>
      </pre>
    </section>
  )
}
