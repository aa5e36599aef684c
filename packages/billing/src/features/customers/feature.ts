import { BillableUser, getUserScope } from '../../billable-user.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { Address, CustomerDetails } from '../../providers/customer.ts'
import { defineCapability, defineFeature } from '../define-feature.ts'
import { createBraintreeCustomerDetails, createBraintreeCustomers } from './braintree.ts'
import { createStripeCustomerDetails, createStripeCustomers } from './stripe.ts'
import { resumeTransfer } from './transfer.ts'
import {
  chooseProvider,
  readBillingAddress,
  readProviderCustomer,
  syncCustomerDetails,
  transferTo,
  updateCard,
  updateCustomer,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Makes the token's card the default payment method, also for running subscriptions. Creates
     * the customer if there is none.
     * @example
     * await user.updateCard(request.body.paymentMethod)
     */
    updateCard(token: string, details?: CustomerDetails): Promise<void>

    /**
     * Chooses the provider at which this user pays from now on. Ends a subscription at the other
     * provider whose first payment is missing.
     * @throws AlreadySubscribed while a subscription runs at the other provider, even in its trial.
     * @throws ProviderChosen if a payment was made there, or an invoice is open.
     */
    chooseProvider(provider: ProviderName): Promise<void>

    /**
     * Transfers the customer to another owner, with its subscriptions, cards, invoices and usage:
     * from a user to a team, for example. Open hosted pages are expired. A repeat does nothing. The
     * customer's details at the provider do not change: to update them, call
     * `syncCustomerDetails()` on the new owner.
     * @throws NoCustomer if there is no customer yet.
     * @throws UserNotFound if the application has no such owner.
     * @throws TransferRefused if the new owner has a customer or subscriptions, uses another
     * provider, or is the same owner.
     * @example
     * await user.transferTo(await billing.owner('team', 7))
     */
    transferTo(to: Owner | { readonly owner: Owner }): Promise<void>

    /** Returns the customer object of the provider's SDK, or `null` if there is no customer. */
    asCustomer(): Promise<unknown>

    /** Reads the customer's address on invoices from the provider. `null` if there is none. */
    billingAddress(): Promise<Address | null>

    /**
     * Changes the customer's details at the provider: `{ email, name, phone, address, locale, … }`.
     * Details that are left out stay.
     * @throws NoCustomer if there is no customer yet.
     * @example
     * await user.updateCustomer({ email: 'ada@example.com', address: { country: 'DE', postalCode: '10115' } })
     */
    updateCustomer(details: CustomerDetails): Promise<void>

    /**
     * Copies the customer's details to the provider, from the columns of the application's own row
     * that the options name. Call it after you change the row; nothing is copied back. Does nothing
     * if there is no customer yet.
     */
    syncCustomerDetails(): Promise<void>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    customer: true
    transfer: true
  }
}

/** The customer that represents a user or team at the payment provider. */
export const customersFeature = defineFeature({
  user: {
    updateCard: (user, token, details = {}) => updateCard(user, token, details),
    chooseProvider,
    transferTo: async (user, to) => {
      await transferTo(user, 'owner' in to ? to.owner : to)
      if (to instanceof BillableUser) await getUserScope(to).user.reload()
    },
    asCustomer: readProviderCustomer,
    billingAddress: readBillingAddress,
  },
  operations: { customer: null, transfer: resumeTransfer },
  stripe: createStripeCustomers,
  braintree: createBraintreeCustomers,
})

/** Changing a customer's name, e-mail, address and other details at the provider. */
export const customerDetailsCapability = defineCapability('customerDetails', {
  user: {
    updateCustomer,
    syncCustomerDetails,
  },
  stripe: createStripeCustomerDetails,
  braintree: createBraintreeCustomerDetails,
})

/** Languages of customers, for providers that store a language with each customer. */
export const customerLanguagesCapability = defineCapability('languages', {
  stripe: () => ({ languages: true }),
})
