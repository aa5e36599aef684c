import { isBillingError } from '@tollgate/billing'
import { addressShape, toAddress } from '../../../admin/operations/taxes.ts'
import { BadChoice } from '../model/problems.ts'
import { TAX_ID_TYPES } from '../model/tax-ids.ts'
import { readAddress } from '../sections/address-fields.tsx'
import type { FormRequest } from './add-form.ts'

const MAX_TAX_ID_LENGTH = 100

/** Sets the address on the person's invoices. */
export async function changeAddress({ account, form }: FormRequest) {
  const parsed = addressShape.safeParse(readAddress(form))
  if (!parsed.success) throw new BadChoice('problem.address')
  await account.billable.updateCustomer({ address: toAddress(parsed.data) })
  return 'address-changed' as const
}

/** Adds a tax id, which is printed on the person's invoices. */
export async function addTaxId({ account: { billable, isCustomer }, form }: FormRequest) {
  const type = TAX_ID_TYPES.find((each) => each === form.get('type'))
  const value = (form.get('tax_id') ?? '').trim()
  const isUsable = isCustomer && value !== '' && value.length <= MAX_TAX_ID_LENGTH
  if (type === undefined || !isUsable) throw new BadChoice('problem.taxId')
  try {
    await billable.createTaxId(type, value)
  } catch (error) {
    if (isBillingError(error, 'invalid_tax_id')) throw new BadChoice('problem.taxId')
    throw error
  }
  return 'tax-id-added' as const
}

/** Removes one of the person's own tax ids. */
export async function removeTaxId({ account: { billable }, form }: FormRequest) {
  const found = await billable.findTaxId(form.get('id') ?? '')
  if (found) await billable.deleteTaxId(found.id)
  return 'tax-id-removed' as const
}
