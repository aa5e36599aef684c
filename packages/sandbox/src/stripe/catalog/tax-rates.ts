import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'

/**
 * Finds tax rates to apply to a new object.
 * @throws {StripeFault} If a rate does not exist or is archived.
 */
export function requireTaxRates(
  work: UnitOfWork,
  ids: readonly string[] | '' | null,
  param: string,
): string[] {
  if (ids === '' || ids === null) return []
  ids.forEach((id, at) => {
    const rate = work.require('tax_rate', id, `${param}[${at}]`)
    if (!rate.active) {
      throw createInvalidRequestFault(
        `The tax rate ${id} cannot be used because it is not active.`,
        `${param}[${at}]`,
      )
    }
  })
  return [...ids]
}
