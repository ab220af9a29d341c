import { Page } from '../../ui/page.tsx'

export function SendJob() {
  return <Page title="Send a job">{null}</Page>
}
