import { listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import { TAX_CODES } from '../catalog/tax-codes.ts'
import { createNoSuchObjectFault } from '../wire/errors.ts'

export const taxCodeOperations: StripeOperations = {
  'TaxCodes.list': (params, { path }) =>
    listPage(
      TAX_CODES.map((code) => ({ ...code })),
      params,
      path,
      (code) => code,
    ),

  'TaxCodes.retrieve': (_params, { id }) => {
    const found = TAX_CODES.find((code) => code.id === id)
    if (!found) throw createNoSuchObjectFault('tax code', id)
    return { ...found }
  },
}
