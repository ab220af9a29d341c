import { Page } from '../../ui/page.tsx'

export function ChainPage() {
  return <Page title="Job">{null}</Page>
}
