import { Page } from '../../ui/page.tsx'

export function JobList() {
  return <Page title="Jobs">{null}</Page>
}
