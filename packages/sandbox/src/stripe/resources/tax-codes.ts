import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { TAX_CODES } from '../catalog/tax-codes.ts'
import { noSuch } from '../wire/errors.ts'

export const taxCodes: Operations = {
  'TaxCodes.list': op<Stripe.TaxCodeListParams>((params, { path }) =>
    listPage(
      TAX_CODES.map((code) => ({ ...code })),
      params,
      path,
      (code) => code,
    ),
  ),

  'TaxCodes.retrieve': op((_params, call) => {
    const found = TAX_CODES.find(({ id }) => id === idOf(call))
    if (!found) throw noSuch('tax code', idOf(call))
    return { ...found }
  }),
}
