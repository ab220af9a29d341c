import { useState } from 'preact/hooks'
import type { Call, HeaderLine } from '../../../../../../clients/typescript/src/client.ts'
import { useMay } from '../../../../session/me.ts'
import { Button } from '../../../../ui/button.tsx'
import { Code } from '../../../../ui/text/code.tsx'
import { Icon } from '../../../../ui/icon.tsx'
import { copyText } from '../../../../ui/text/hand-over.ts'
import { curlOf } from '../../../../format/curl.ts'
import { indentJson } from '../../../../format/json-text.ts'
import { bodyNote } from './body-note.ts'
import './exchange.css'

interface ExchangeProps {
  readonly call: Call
  readonly jobId: number
  readonly isBase64: boolean
}

/** What was sent and what came back. @param isBase64 whether the body is kept as base64 of its bytes */
export function Exchange({ call, jobId, isBase64 }: ExchangeProps) {
  const { request, response } = call
  const maySee = useMay('payloads')
  return (
    <div class="stack">
      {!maySee && (
        <p class="exchange-masked">
          <Icon name="info" /> Headers and bodies are masked: seeing them needs the permission payloads.
        </p>
      )}
      <div class="exchange">
        <Message
          name="Request"
          first={`${request.method} ${request.url}`}
          headers={request.headers}
          body={request.body}
          isCut={request.body_truncated}
          file={`job-${jobId}-request.txt`}
          bodyName={isBase64 ? 'Request body, in base64' : 'Request body'}
          actions={
            <Button
              look="bare"
              icon="copy"
              onClick={() => void copyText(curlOf({ ...request, isBase64 }), 'The request as curl')}
            >
              Copy as curl
            </Button>
          }
        />
        {response === null ? (
          <section class="message">
            <header>
              <h3>Response</h3>
            </header>
            <p class="message-none soft">There was no answer. {call.error_message}</p>
          </section>
        ) : (
          <Message
            name="Response"
            first={`Status ${response.status}`}
            headers={response.headers}
            body={response.body}
            isCut={response.body_truncated}
            areHeadersCut={response.headers_truncated}
            isRecorded={response.is_recorded}
            notes={response.protocol_notes}
            file={`job-${jobId}-response.txt`}
          />
        )}
      </div>
    </div>
  )
}

interface MessageProps {
  readonly name: string
  readonly first: string
  readonly headers: readonly HeaderLine[]
  readonly body: string | null
  /** Above the body; absent = the name with "body". */
  readonly bodyName?: string
  readonly isCut: boolean
  readonly areHeadersCut?: boolean
  /** Whether headers and body are kept; an API of the version before does not say. */
  readonly isRecorded?: boolean
  /** What HTTP/1.1 does not allow in it. */
  readonly notes?: readonly string[]
  readonly file: string
  readonly actions?: preact.ComponentChildren
}

function Message(props: MessageProps) {
  const { name, first, headers, areHeadersCut = false, body, isCut, notes = [], file, actions } = props
  const { isRecorded = true } = props
  const [isRaw, setIsRaw] = useState(false)
  const pretty = body === null ? null : indentJson(body)
  const type = headers.find(({ name: head }) => head.toLowerCase() === 'content-type')?.value
  return (
    <section class="message">
      <header>
        <h3>{name}</h3>
        <span class="row">
          {actions}
          {pretty !== null && (
            <Button look="bare" isPressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
              Raw
            </Button>
          )}
        </span>
      </header>
      <Code
        label={`${name} line and headers`}
        text={[first, ...headers.map(({ name: head, value }) => `${head}: ${value}`)].join('\n')}
      />
      {areHeadersCut && <p class="soft">Further headers came, which are not kept.</p>}
      {notes.length > 0 && (
        <p class="message-notes">
          <Icon name="warning" /> HTTP/1.1 does not allow this. {notes.join(' ')}
        </p>
      )}
      {body === null || body === '' ? (
        <p class="soft">
          {isRecorded ? 'No body' : 'Headers and body are not kept: the queue or the cron says so.'}
        </p>
      ) : (
        <Code
          label={props.bodyName ?? `${name} body`}
          text={isRaw ? body : (pretty ?? body)}
          file={file}
          note={bodyNote(body, type, isCut)}
        />
      )}
    </section>
  )
}
