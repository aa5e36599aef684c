import type { Operations } from '../api/operation.ts'
import { list, retrieve, search, update } from '../api/resource.ts'
import { invalidRequest } from '../wire/errors.ts'

/** Operations that read and update charges. Payment intents create them. */
export const charges: Operations = {
  'Charges.create': () => {
    throw invalidRequest(
      'This integration surface is unsupported: create a PaymentIntent instead of a Charge.',
    )
  },
  'Charges.retrieve': retrieve('charge'),
  'Charges.update': update('charge', ['description', 'receipt_email']),
  'Charges.list': list('charge', { by: ['payment_intent', 'customer'] }),
  'Charges.search': search('charge'),
}
