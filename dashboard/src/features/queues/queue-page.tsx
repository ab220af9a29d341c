import { Page } from '../../ui/page.tsx'

export function QueuePage() {
  return <Page title="Queue">{null}</Page>
}
