import { listPage } from '../api/lists.ts'
import type { Operations } from '../api/operation.ts'
import { TAX_CODES } from '../catalog/tax-codes.ts'
import { noSuch } from '../wire/errors.ts'

export const taxCodes: Operations = {
  'TaxCodes.list': (params, { path }) =>
    listPage(
      TAX_CODES.map((code) => ({ ...code })),
      params,
      path,
      (code) => code,
    ),

  'TaxCodes.retrieve': (_params, { id }) => {
    const found = TAX_CODES.find((code) => code.id === id)
    if (!found) throw noSuch('tax code', id)
    return { ...found }
  },
}
