import { visible } from '../../format/visible.ts'

/** A text from outside, such as a name or an error: it reorders nothing beside it, and nothing hides in it. */
export function Verbatim({ text, title }: { readonly text: string; readonly title?: string }) {
  return <bdi title={title === undefined ? undefined : visible(title)}>{visible(text)}</bdi>
}
