import { Page } from '../../ui/page.tsx'

export function DeadLetters() {
  return <Page title="Dead letters">{null}</Page>
}
