import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { render } from '../state/render.ts'
import type { WebhookEndpointRow } from '../state/rows.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'

export const webhookEndpoints: Operations = {
  'WebhookEndpoints.create': op<Stripe.WebhookEndpointCreateParams>((params, { work }) => {
    if (params.connect) throw invalidRequest('The sandbox has no connected accounts.', 'connect')
    const row: WebhookEndpointRow = {
      ...nulls<Stripe.WebhookEndpoint>('webhook_endpoint'),
      id: work.newId('we_1'),
      object: 'webhook_endpoint',
      api_version: params.api_version ?? null,
      created: work.now,
      description: params.description || null,
      enabled_events: [...params.enabled_events],
      livemode: false,
      metadata: mergeMetadata({}, params.metadata),
      status: 'enabled',
      url: checkUrl(params.url),
      $: { secret: work.newId('whsec_', 32) },
    }
    work.insert('webhook_endpoint', row)
    // The secret is shown once, here.
    return { ...render('webhook_endpoint', row, work.tables), secret: row.$.secret }
  }),
  'WebhookEndpoints.retrieve': op((_params, call) =>
    render('webhook_endpoint', call.work.require('webhook_endpoint', idOf(call)), call.work.tables),
  ),
  'WebhookEndpoints.update': op<Stripe.WebhookEndpointUpdateParams>((params, call) => {
    const { work } = call
    const row = work.edit('webhook_endpoint', work.require('webhook_endpoint', idOf(call)))
    if (params.url !== undefined) row.url = checkUrl(params.url)
    if (params.enabled_events) row.enabled_events = [...params.enabled_events]
    if (params.disabled !== undefined) row.status = params.disabled ? 'disabled' : 'enabled'
    if (params.description !== undefined) row.description = params.description || null
    row.metadata = mergeMetadata(row.metadata, params.metadata)
    return render('webhook_endpoint', row, work.tables)
  }),
  'WebhookEndpoints.del': op((_params, call) => {
    const { work } = call
    const row = work.require('webhook_endpoint', idOf(call))
    work.remove('webhook_endpoint', row)
    return { id: row.id, object: 'webhook_endpoint', deleted: true }
  }),
  'WebhookEndpoints.list': op<Stripe.WebhookEndpointListParams>((params, { work, path }) =>
    listPage(work.tables.webhook_endpoint.newestFirst(), params, path, (row) =>
      render('webhook_endpoint', row, work.tables),
    ),
  ),
}

export function checkUrl(url: string, param = 'url'): string {
  try {
    const { protocol } = new URL(url)
    if (protocol === 'http:' || protocol === 'https:') return url
  } catch {
    // Fall through to the same refusal.
  }
  throw invalidRequest(
    'Invalid URL: An explicit scheme (such as https) must be provided.',
    param,
    'url_invalid',
  )
}
