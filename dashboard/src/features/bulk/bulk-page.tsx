import { Page } from '../../ui/page.tsx'

export function BulkPage() {
  return <Page title="Bulk action">{null}</Page>
}
