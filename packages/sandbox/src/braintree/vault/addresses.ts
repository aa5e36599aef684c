import { NO_ADDRESS, readAddressParts } from '../state/addresses.ts'
import { type BraintreeContext, createUnusedId } from '../state/context.ts'
import type { AddressRow, BillingAddress, PaymentMethodRow } from '../state/rows/vault.ts'
import type { RequestFields } from '../wire/validation.ts'

/**
 * The billing address of a card as a call sends it: none, the id of one of the customer's
 * addresses, or the parts of a new address.
 */
export type BillingAddressInput =
  | { readonly kind: 'none' }
  /** One of the customer's own, by its id. */
  | { readonly kind: 'kept'; readonly id: string }
  /** Written out. With `updateExisting` it changes the card's own instead of being one more. */
  | {
      readonly kind: 'new'
      readonly parts: Partial<BillingAddress>
      readonly updateExisting: boolean
    }

/**
 * Reads the billing address of a card: `billing_address` or `billing_address_id`. Sending both is
 * an error.
 */
export function readBillingAddress(
  context: BraintreeContext,
  fields: RequestFields,
  customerId: string | null,
): BillingAddressInput {
  const given = fields.object('billing_address')
  const parts = readAddressParts(given)
  const isWritten = Object.values(parts).some((part) => part !== null)
  const id = fields.text('billing_address_id')
  if (id === null) {
    const updateExisting = given.object('options').flag('update_existing') ?? false
    return isWritten ? { kind: 'new', parts, updateExisting } : { kind: 'none' }
  }
  if (isWritten) fields.addError('base', '91701')
  if (context.tables.addresses.get(id)?.customerId !== customerId) {
    fields.addError('billing_address_id', '91702')
  }
  return { kind: 'kept', id }
}

/**
 * Stores the billing address of a card and returns the address's id. Returns `null` if no address
 * was sent.
 */
export function storeBillingAddress(
  context: BraintreeContext,
  addressInput: BillingAddressInput,
  addressOwner: { customerId: string; method?: PaymentMethodRow },
): string | null {
  if (addressInput.kind === 'none') return null
  if (addressInput.kind === 'kept') return addressInput.id
  const own = context.tables.addresses.get(addressOwner.method?.billingAddressId ?? '')
  if (!own || !addressInput.updateExisting)
    return storeAddress(context, addressOwner.customerId, addressInput.parts).id
  return changeAddress(context, own, addressInput.parts).id
}

export function storeAddress(
  context: BraintreeContext,
  customerId: string,
  parts: Partial<BillingAddress>,
): AddressRow {
  const { addresses } = context.tables
  const now = context.clock.nowMs()
  const row: AddressRow = {
    ...NO_ADDRESS,
    ...parts,
    id: createUnusedId(context, 4, (id) => addresses.has(id)),
    customerId,
    createdAt: now,
    updatedAt: now,
  }
  addresses.set(row.id, row)
  return row
}

export function changeAddress(
  context: BraintreeContext,
  row: AddressRow,
  parts: Partial<BillingAddress>,
): AddressRow {
  Object.assign(row, parts)
  row.updatedAt = context.clock.nowMs()
  context.tables.addresses.set(row.id, row)
  return row
}

/**
 * Deletes an address of a customer. Cards that used it as their billing address have no billing
 * address afterwards.
 */
export function removeAddress(context: BraintreeContext, row: AddressRow): void {
  const { addresses, paymentMethods } = context.tables
  addresses.delete(row.id)
  for (const method of paymentMethods.findBy('customer', row.customerId)) {
    if (method.billingAddressId !== row.id) continue
    method.billingAddressId = null
    paymentMethods.set(method.token, method)
  }
}
