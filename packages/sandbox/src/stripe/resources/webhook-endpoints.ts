import type { Operations } from '../api/operation.ts'
import { list, remove, retrieve, update } from '../api/resource.ts'
import { blank } from '../state/blank.ts'
import { render } from '../state/render.ts'
import { invalidRequest } from '../wire/errors.ts'
import { given, mergeMetadata } from '../wire/fields.ts'

export const webhookEndpoints: Operations = {
  'WebhookEndpoints.create': (params, { work }) => {
    if (params.connect) throw invalidRequest('The sandbox has no connected accounts.', 'connect')
    const row = work.insert('webhook_endpoint', {
      ...blank('webhook_endpoint'),
      id: work.newId('we_1'),
      ...given(params, 'api_version', 'description'),
      created: work.now,
      enabled_events: [...params.enabled_events],
      metadata: mergeMetadata({}, params.metadata),
      status: 'enabled',
      url: checkUrl(params.url),
      $: { secret: work.newId('whsec_', 32) },
    })
    // The secret is returned only here, on creation.
    return { ...render('webhook_endpoint', row, work.tables), secret: row.$.secret }
  },
  'WebhookEndpoints.retrieve': retrieve('webhook_endpoint'),
  'WebhookEndpoints.update': update(
    'webhook_endpoint',
    ['description', 'enabled_events'],
    (row, params) => {
      if (params.url !== undefined) row.url = checkUrl(params.url)
      if (params.disabled !== undefined) row.status = params.disabled ? 'disabled' : 'enabled'
    },
  ),
  'WebhookEndpoints.del': remove('webhook_endpoint', (row, { work }) =>
    work.remove('webhook_endpoint', row),
  ),
  'WebhookEndpoints.list': list('webhook_endpoint'),
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
