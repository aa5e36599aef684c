import type { StripeOperations } from '../api/operation.ts'
import {
  listOperation,
  removeOperation,
  retrieveOperation,
  updateOperation,
} from '../api/resource.ts'
import { createBlankRow } from '../state/blank.ts'
import { renderRow } from '../state/render.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'

export const webhookEndpointOperations: StripeOperations = {
  'WebhookEndpoints.create': (params, { work }) => {
    if (params.connect)
      throw createInvalidRequestFault('The sandbox has no connected accounts.', 'connect')
    const row = work.insert('webhook_endpoint', {
      ...createBlankRow('webhook_endpoint'),
      id: work.newId('we_1'),
      ...pickSentFields(params, 'api_version', 'description'),
      created: work.now,
      enabled_events: [...params.enabled_events],
      metadata: mergeMetadata({}, params.metadata),
      status: 'enabled',
      url: checkUrl(params.url),
      $: { secret: work.newId('whsec_', 32) },
    })
    // The secret is returned only here, on creation.
    return { ...renderRow('webhook_endpoint', row, work.tables), secret: row.$.secret }
  },
  'WebhookEndpoints.retrieve': retrieveOperation('webhook_endpoint'),
  'WebhookEndpoints.update': updateOperation(
    'webhook_endpoint',
    ['description', 'enabled_events'],
    (row, params) => {
      if (params.url !== undefined) row.url = checkUrl(params.url)
      if (params.disabled !== undefined) row.status = params.disabled ? 'disabled' : 'enabled'
    },
  ),
  'WebhookEndpoints.del': removeOperation('webhook_endpoint', (row, { work }) =>
    work.remove('webhook_endpoint', row),
  ),
  'WebhookEndpoints.list': listOperation('webhook_endpoint'),
}

export function checkUrl(url: string, param = 'url'): string {
  try {
    const { protocol } = new URL(url)
    if (protocol === 'http:' || protocol === 'https:') return url
  } catch {
    // Fall through to the same refusal.
  }
  throw createInvalidRequestFault(
    'Invalid URL: An explicit scheme (such as https) must be provided.',
    param,
    'url_invalid',
  )
}
