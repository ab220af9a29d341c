import { useState } from 'preact/hooks'
import { ApiError } from '../../../../../clients/typescript/src/client.ts'
import { Button } from '../../../ui/button.tsx'
import { TextArea } from '../../../ui/forms/field.tsx'
import { draftOfJson } from './draft-reading.ts'
import { bodyOf, fieldsOf } from './job-draft.ts'
import { JobForm, type JobFormProps } from './job-form.tsx'

/** A draft as a form or as JSON, whichever is easier. */
export function JobEditor(props: JobFormProps & { onBroken(isBroken: boolean): void }) {
  const { draft, onChange, onBroken, isMasked = false } = props
  // The text as it is typed; null = the form is shown.
  const [text, setText] = useState<string | null>(null)
  const mistake = text === null ? null : draftOfJson(text, draft).mistake
  const change = (next: string): void => {
    setText(next)
    const read = draftOfJson(next, draft)
    onBroken(read.draft === null)
    if (read.draft !== null) onChange(read.draft)
  }
  return (
    <>
      {!isMasked && (
        <div class="choice" role="group" aria-label="Edit as">
          <Button
            look="bare"
            isPressed={text === null}
            disabled={mistake !== null && 'Mend the JSON first'}
            onClick={() => setText(null)}
          >
            Form
          </Button>
          <Button
            look="bare"
            isPressed={text !== null}
            onClick={() => setText(bodyOf(fieldsOf(draft).fields))}
          >
            JSON
          </Button>
        </div>
      )}
      {text === null ? (
        <JobForm {...props} />
      ) : (
        <TextArea
          label="The job as JSON"
          rows={20}
          hint="As the body of POST /api/jobs."
          mistakes={mistake === null ? told(props) : [mistake]}
          value={text}
          onChange={change}
        />
      )}
    </>
  )
}

/** All mistakes, with their fields. */
function told({ mistakes, fault }: JobFormProps): string[] {
  const found = fault instanceof ApiError && fault.errors !== null ? fault.errors : {}
  return [
    ...Object.entries(mistakes).map(([name, mistake]) => `${name}: ${mistake}`),
    ...Object.entries(found).map(([name, texts]) => `${name}: ${texts.join(' ')}`),
  ]
}
