import type { StripeOperations } from '../api/operation.ts'
import {
  createOperation,
  listOperation,
  retrieveOperation,
  updateOperation,
} from '../api/resource.ts'
import { createBlankRow } from '../state/blank.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'

export const taxRateOperations: StripeOperations = {
  'TaxRates.create': createOperation('tax_rate', (params, { work }) => {
    const { percentage } = params
    if (!(percentage >= 0 && percentage <= 100)) {
      throw createInvalidRequestFault('Invalid percentage: must be between 0 and 100', 'percentage')
    }
    if (!/^\d+(\.\d{1,4})?$/.test(String(percentage))) {
      throw createInvalidRequestFault(
        'Invalid percentage: must have at most 4 decimal places',
        'percentage',
      )
    }
    return {
      ...createBlankRow('tax_rate'),
      id: work.newId('txr_1'),
      created: work.now,
      active: params.active ?? true,
      ...pickSentFields(params, 'country', 'description', 'jurisdiction', 'state', 'tax_type'),
      display_name: params.display_name,
      effective_percentage: percentage,
      inclusive: params.inclusive,
      metadata: mergeMetadata({}, params.metadata),
      percentage,
      rate_type: 'percentage',
    }
  }),
  'TaxRates.retrieve': retrieveOperation('tax_rate'),
  'TaxRates.update': updateOperation('tax_rate', [
    'active',
    'country',
    'description',
    'display_name',
    'jurisdiction',
    'state',
    'tax_type',
  ]),
  'TaxRates.list': listOperation('tax_rate'),
}
