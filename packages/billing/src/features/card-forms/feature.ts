import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import { defineCapability, defineFeature } from '../define-feature.ts'
import { createBraintreeClientTokens } from './braintree-client-tokens.ts'
import { createStripeSetups } from './stripe-setups.ts'
import {
  type ClientTokenOptions,
  createCardSetup,
  createClientToken,
  findCardSetup,
  openPaymentForm,
  type PaymentForm,
  type PaymentFormOptions,
  type SetupIntent,
  type SetupOptions,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Returns what you need to collect a card with any provider: the URL of a hosted page, or a
     * token for the provider's form in your own page.
     * @example
     * const form = await user.paymentForm({ successPath: '/billing', cancelPath: '/billing' })
     * if (form.kind === 'redirect') return Response.redirect(form.url, 303)
     */
    paymentForm(options: PaymentFormOptions): Promise<PaymentForm>

    /**
     * Creates a setup intent, with which the provider's script in the browser stores a card without
     * charging it. Creates the customer if needed.
     * @example
     * const { clientSecret } = await user.createSetupIntent()
     */
    createSetupIntent(options?: SetupOptions): Promise<PendingConfirmation>

    /**
     * Reads a setup intent: its status, and the payment method it has stored. `null` if there is
     * none, or it belongs to another customer.
     */
    findSetupIntent(id: string): Promise<SetupIntent | null>

    /**
     * Creates a token that opens the provider's form in the browser. Each call returns a new one.
     */
    clientToken(options?: ClientTokenOptions): Promise<string>
  }
}

/** Collecting a card with any provider. */
export const cardFormsFeature = defineFeature({
  user: {
    paymentForm: openPaymentForm,
  },
})

/** Storing a card without a payment, with the provider's script in the browser. */
export const paymentMethodSetupsCapability = defineCapability('setups', {
  user: {
    createSetupIntent: (user, options = {}) => createCardSetup(user, options),
    findSetupIntent: findCardSetup,
  },
  stripe: createStripeSetups,
})

/** Client tokens, which authorize the provider's form in the browser. */
export const clientTokensCapability = defineCapability('clientTokens', {
  user: {
    clientToken: (user, options = {}) => createClientToken(user, options),
  },
  braintree: createBraintreeClientTokens,
})
