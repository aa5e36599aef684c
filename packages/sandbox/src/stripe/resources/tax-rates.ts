import type { Operations } from '../api/operation.ts'
import { create, list, retrieve, update } from '../api/resource.ts'
import { blank } from '../state/blank.ts'
import { invalidRequest } from '../wire/errors.ts'
import { given, mergeMetadata } from '../wire/fields.ts'

export const taxRates: Operations = {
  'TaxRates.create': create('tax_rate', (params, { work }) => {
    const { percentage } = params
    if (!(percentage >= 0 && percentage <= 100)) {
      throw invalidRequest('Invalid percentage: must be between 0 and 100', 'percentage')
    }
    if (!/^\d+(\.\d{1,4})?$/.test(String(percentage))) {
      throw invalidRequest('Invalid percentage: must have at most 4 decimal places', 'percentage')
    }
    return {
      ...blank('tax_rate'),
      id: work.newId('txr_1'),
      created: work.now,
      active: params.active ?? true,
      ...given(params, 'country', 'description', 'jurisdiction', 'state', 'tax_type'),
      display_name: params.display_name,
      effective_percentage: percentage,
      inclusive: params.inclusive,
      metadata: mergeMetadata({}, params.metadata),
      percentage,
      rate_type: 'percentage',
    }
  }),
  'TaxRates.retrieve': retrieve('tax_rate'),
  'TaxRates.update': update('tax_rate', [
    'active',
    'country',
    'description',
    'display_name',
    'jurisdiction',
    'state',
    'tax_type',
  ]),
  'TaxRates.list': list('tax_rate'),
}
