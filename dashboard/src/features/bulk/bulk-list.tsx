import { Page } from '../../ui/page.tsx'

export function BulkList() {
  return <Page title="Bulk actions">{null}</Page>
}
