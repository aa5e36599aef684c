import { createInvalidRequestFault } from '../wire/errors.ts'

export interface TaxCode {
  readonly id: string
  readonly object: 'tax_code'
  readonly description: string
  readonly name: string
  readonly requirements: null
}

const code = (id: string, name: string, description: string): TaxCode => ({
  id,
  object: 'tax_code',
  description,
  name,
  requirements: null,
})

/** Tax code of products that are never taxed. */
export const NONTAXABLE_TAX_CODE = 'txcd_00000000'

/**
 * A selection of Stripe's tax codes. A product may have any other code too; all codes except the
 * first are taxed in the same way.
 */
export const TAX_CODES: readonly TaxCode[] = [
  code(NONTAXABLE_TAX_CODE, 'Nontaxable', 'Any nontaxable good or service.'),
  code(
    'txcd_10000000',
    'General - Electronically Supplied Services',
    'A service delivered over the internet with little human help.',
  ),
  code('txcd_10103000', 'Software as a service (SaaS) - personal use', 'For a person’s own use.'),
  code('txcd_10103001', 'Software as a service (SaaS) - business use', 'For use by a business.'),
  code('txcd_20030000', 'General - Services', 'A service.'),
  code('txcd_99999999', 'General - Tangible Goods', 'A thing that can be touched.'),
]

export function requireTaxCode(id: string, param = 'tax_code'): string {
  if (/^txcd_\d{8}$/.test(id)) return id
  throw createInvalidRequestFault(`No such tax code: '${id}'`, param, 'resource_missing')
}
