import type { Operations } from '../api/operation.ts'
import { list, retrieve, search, update } from '../api/resource.ts'
import { invalidRequest } from '../wire/errors.ts'

/** Read and update operations. Charges are created by payment intents. */
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
