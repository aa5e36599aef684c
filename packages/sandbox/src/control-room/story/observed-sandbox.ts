import type { Readable } from 'node:stream'
import type { BraintreeHandle } from '../../braintree/server/handle.ts'
import type { BraintreeContext } from '../../braintree/state/context.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import type { SandboxMailbox } from '../../mail/mailbox.ts'
import type { ProviderOptions } from '../../offline/offline-sandbox.ts'
import type { StripeHandle } from '../../stripe/server/handle.ts'
import type { StripeContext } from '../../stripe/state/context.ts'

/**
 * The running providers, Stripe and Braintree: their handles for tests, and their internal state.
 */
export interface RunningProviders {
  readonly stripe: { readonly handle: StripeHandle; readonly context: StripeContext } | null
  readonly braintree: {
    readonly handle: BraintreeHandle
    /**
     * Contexts of the merchants. The first one is the context of the merchant that `handle`
     * controls.
     */
    readonly merchants: readonly BraintreeContext[]
  } | null
}

/** The sandbox as the control room sees it: read access to the providers and their state. */
export interface ObservedSandbox extends ProviderContext, RunningProviders {
  /**
   * Options with which the providers were started. An offline copy is opened with the same options.
   */
  readonly wanted: ProviderOptions
  /** The mailbox. `null` if no mail server was started. */
  readonly mail: SandboxMailbox | null
}

/**
 * The sandbox as the control room's forms use it: the state that the pages read, and functions to
 * save, reset and export this state.
 */
export interface ControllableSandbox extends ObservedSandbox {
  readonly save: () => Promise<void>
  readonly reset: () => Promise<void>
  readonly exportState: () => Readable
}

/** A reference to a customer: the provider, the Braintree merchant, and the id. */
export interface CustomerRef {
  readonly provider: 'stripe' | 'braintree'
  /** Id of the customer's Braintree merchant. `null` if there is only one merchant. */
  readonly merchant: string | null
  readonly id: string
}
