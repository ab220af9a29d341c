/** The jobs of the shop, by how they end. */
import type { Push } from '../../../support/servers/api-client.ts'
import type { ShopTargets } from './targets.ts'

const TENANTS = ['acme', 'globex', 'initech'] as const
/** Nobody listens there. */
export const CLOSED = 'http://127.0.0.1:9'

const tenant = (i: number): string => TENANTS[i % TENANTS.length] ?? ''
const many = (count: number, make: (i: number) => Push): Push[] =>
  Array.from({ length: count }, (_, i) => make(i))

export function goodJobs({ mail, search, payments }: ShopTargets): Push[] {
  return [
    ...many(24, (i) => ({
      queue: 'emails',
      url: `${mail.url}/v1/send`,
      tags: { tenant: tenant(i) },
      payload: { template: 'order-confirmation', to: `customer${i + 1}@mail.example`, order: 48_000 + i },
    })),
    ...many(12, (i) => ({
      queue: 'search-index',
      url: `${search.url}/products/${300 + i}`,
      method: 'PUT' as const,
      payload: { sku: `SKU-${300 + i}`, stock: i * 3 },
    })),
    ...many(8, (i) => ({
      queue: 'invoices',
      url: `${payments.url}/v2/captures`,
      tags: { tenant: tenant(i) },
      headers: { Authorization: 'Bearer secret-of-the-shop' },
      payload: { invoice: `2026-11-${i + 100}`, amount: 4990 },
    })),
    ...many(6, (i) => ({
      queue: 'thumbnails',
      url: `${search.url}/images/${i + 1}`,
      tags: { tenant: tenant(i) },
    })),
  ]
}

/** They become dead letters within seconds. */
export function deadJobs({ mail, partner }: ShopTargets): Push[] {
  const retry_delays = [1]
  return [
    ...many(9, (i) => ({
      queue: 'webhooks',
      url: `${partner.url}/orders`,
      tags: { tenant: tenant(i) },
      retry_delays,
      payload: { event: 'order.paid', order: 48_000 + i },
    })),
    ...many(5, (i) => ({
      queue: 'webhooks',
      url: `${partner.url}/returns`,
      tags: { tenant: tenant(i) },
      retry_delays,
      payload: { event: 'return.opened', order: 47_100 + i },
    })),
    ...many(3, (i) => ({
      queue: 'webhooks',
      url: `${partner.url}/slow`,
      timeout_seconds: 1,
      retry_delays,
      payload: { event: 'order.shipped', order: 46_900 + i },
    })),
    ...many(2, () => ({
      queue: 'emails',
      url: `${mail.url}/v1/bounces`,
      retry_delays,
      payload: { to: 'nobody@mail.example' },
    })),
    ...many(4, (i) => ({
      queue: 'crm-sync',
      url: `${CLOSED}/contacts/${i + 1}`,
      retry_delays,
      tags: { tenant: tenant(i) },
    })),
  ]
}

/** What has not ended: jobs that are not due, retries that wait, and calls under way. */
export function openJobs({ mail, partner, search }: ShopTargets): Push[] {
  return [
    ...many(9, (i) => ({
      queue: 'emails',
      url: `${mail.url}/v1/send`,
      delay: 3_600 + i * 900,
      tags: { tenant: tenant(i) },
      payload: { template: 'review-your-order', order: 48_000 + i },
    })),
    ...many(5, (i) => ({
      queue: 'webhooks',
      url: `${partner.url}/orders`,
      tags: { tenant: tenant(i) },
      payload: { event: 'order.paid', order: 48_400 + i },
      retry_delays: [900, 3_600],
    })),
    ...many(3, (i) => ({
      queue: 'search-index',
      url: `${search.url}/reindex/${i + 1}`,
      timeout_seconds: 120,
      tags: { tenant: tenant(i) },
    })),
  ]
}

/** A chain of four attempts that succeeds with the last one. */
export function stubbornJob({ partner }: ShopTargets): Push {
  return {
    queue: 'webhooks',
    url: `${partner.url}/stock`,
    retry_delays: [1, 1, 2],
    tags: { tenant: 'acme' },
    headers: { Authorization: 'Bearer secret-of-the-shop', 'X-Shop-Event': 'stock.low' },
    payload: { event: 'stock.low', sku: 'SKU-312', left: 2, warehouse: { city: 'Hamburg', shelf: 'B-14' } },
  }
}
